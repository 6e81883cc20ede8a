// SPDX-License-Identifier: Apache-2.0
#include "kernel/cmdline.hpp"

#include <gtest/gtest.h>

namespace kcg {
namespace {

using Args = std::vector<std::string>;
using namespace std::string_view_literals;

struct Row {
  const char* name;
  std::string_view text;
  Args args;
};

TEST(Cmdline, Splits) {
  const Row rows[] = {
      {"kernel thread", ""sv, {}},
      {"one argument", "init\0"sv, {"init"}},
      {"shim with an empty argument",
       "shim\0-publish-binary\0\0-id\0x\0"sv,
       {"shim", "-publish-binary", "", "-id", "x"}},
      {"no final NUL", "a\0b"sv, {"a", "b"}},
      {"title without NUL", "nginx: master process"sv, {"nginx: master process"}},
      {"only NULs", "\0\0"sv, {"", ""}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(split_cmdline(row.text), row.args);
  }
}

TEST(Cmdline, LeavesOutWhatExceedsTheBound) {
  EXPECT_EQ(split_cmdline("a\0b\0c\0"sv, 2), (Args{"a", "b"}));
  EXPECT_EQ(split_cmdline(std::string(10'000, '\0')).size(), 4096U);
}

}  // namespace
}  // namespace kcg
