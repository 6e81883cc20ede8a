// SPDX-License-Identifier: Apache-2.0
#include "kernel/proc_stat.hpp"

#include <gtest/gtest.h>

#include <string>

namespace kcg {
namespace {

/// A line as the kernel writes it, with the fields that matter as arguments.
std::string line(const std::string& head, const std::string& flags = "4194560",
                 const std::string& guest = "33") {
  return head + " 1 100 100 0 -1 " + flags +
         " 1 2 3 4 55 66 7 8 20 0 1 0 123456 9000 100 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 "
         "17 "
         "1 0 0 0 " +
         guest + " 0 0 0 0 0 0 0 0 0\n";
}

TEST(ProcStat, ReadsTheFields) {
  const auto stat = parse_proc_stat(line("4242 (CPU 0/KVM) S"));
  ASSERT_TRUE(stat) << stat.error().text;
  EXPECT_EQ(*stat, (ProcStat{4242, "CPU 0/KVM", 'S', 1, 4194560, 55, 66, 123456, 33}));
  EXPECT_EQ(stat->key(), (TaskKey{4242, 123456}));
  EXPECT_FALSE(stat->kernel_thread());
}

TEST(ProcStat, KnowsKernelThreads) {
  EXPECT_TRUE(parse_proc_stat(line("2 (kthreadd) S", "2129984"))->kernel_thread());
}

TEST(ProcStat, TakesAnyName) {
  for (const std::string name :
       {"", " ", ")", "a) R 1 2", "(x)", "vhost-1", "new\nline", ") S ("}) {
    const auto stat = parse_proc_stat(line("7 (" + name + ") R"));
    ASSERT_TRUE(stat) << name << ": " << stat.error().text;
    EXPECT_EQ(stat->comm, name);
    EXPECT_EQ(stat->state, 'R');
    EXPECT_EQ(stat->start, 123456U);
  }
}

TEST(ProcStat, Refuses) {
  const auto good = line("7 (x) S");
  const struct {
    const char* name;
    std::string text;
  } rows[] = {
      {"empty", ""},
      {"no name", "7 x S 1"},
      {"name not closed", "7 (x S 1"},
      {"closed before open", "7 ) (x"},
      {"cut off", good.substr(0, good.size() / 2)},
      {"pid 0", line("0 (x) S")},
      {"negative pid", line("-1 (x) S")},
      {"state of two letters", line("7 (x) SS")},
      {"flags no number", line("7 (x) S", "0x10")},
      {"negative guest time", line("7 (x) S", "0", "-1")},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_FALSE(parse_proc_stat(row.text));
  }
}

TEST(ProcStat, ReadsItsShortestForm) {
  // 43 fields are what the product needs; the kernel has more, and may have more still.
  auto text = line("7 (x) S");
  text.resize(text.find(" 33 ") + 3);
  EXPECT_TRUE(parse_proc_stat(text));
  text.resize(text.size() - 3);
  EXPECT_FALSE(parse_proc_stat(text));
}

}  // namespace
}  // namespace kcg
