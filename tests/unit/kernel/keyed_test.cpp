// SPDX-License-Identifier: Apache-2.0
#include "kernel/keyed.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace kcg {
namespace {

constexpr const char* kMemoryEvents =
    "low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n";

TEST(Keyed, FindsTheWholeKey) {
  const struct {
    const char *name, *text, *key;
    std::uint64_t value;
  } rows[] = {
      {"first line", "populated 1\nfrozen 0\n", "populated", 1},
      {"last line", "populated 1\nfrozen 0\n", "frozen", 0},
      {"prefix of another key", kMemoryEvents, "oom", 3},
      {"longer key", kMemoryEvents, "oom_kill", 2},
      {"no final newline", "anon 4096", "anon", 4096},
      {"largest", "x 18446744073709551615\n", "x", UINT64_MAX},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto value = keyed_value(row.text, row.key);
    ASSERT_TRUE(value) << value.error().text;
    EXPECT_EQ(*value, row.value);
  }
}

TEST(Keyed, TellsAbsentFromBad) {
  const struct {
    const char *name, *text, *key;
    int code;
  } rows[] = {
      {"empty file", "", "oom_kill", ENOENT},
      {"no such key", kMemoryEvents, "oom_k", ENOENT},
      {"no value", "populated\n", "populated", EINVAL},
      {"two values", "populated 1 2\n", "populated", EINVAL},
      {"negative", "populated -1\n", "populated", EINVAL},
      {"overflow", "populated 18446744073709551616\n", "populated", EINVAL},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto value = keyed_value(row.text, row.key);
    ASSERT_FALSE(value);
    EXPECT_EQ(value.error().code, row.code);
    EXPECT_NE(value.error().text.find(row.key), std::string::npos);
  }
}

}  // namespace
}  // namespace kcg
