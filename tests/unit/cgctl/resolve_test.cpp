// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/resolve.hpp"

#include <gtest/gtest.h>

#include "tools/cgctl/failure.hpp"

namespace kcg::cgctl {
namespace {

const std::vector<std::string> kIds = {"abc", "abcd", "abcdef01", "abcdef02", "zzzz9999"};

TEST(ResolveId, FullIdOrUnambiguousPrefix) {
  const struct {
    const char* name;
    const char* text;
    std::optional<std::size_t> at;
    const char* failure;
  } rows[] = {
      {"full", "abcdef02", 3, ""},
      {"full, and a prefix of others", "abcd", 1, ""},
      {"full, though short", "abc", 0, ""},
      {"prefix", "zzzz", 4, ""},
      {"longer prefix", "abcdef01", 2, ""},
      {"too short", "zzz", {}, "NoSuchSandbox"},
      {"empty", "", {}, "NoSuchSandbox"},
      {"unknown", "yyyy", {}, "NoSuchSandbox"},
      {"ambiguous", "abcde", {}, "AmbiguousId"},
  };
  for (const auto& row : rows) {
    const auto at = resolve_id(kIds, row.text);
    EXPECT_EQ(at ? std::optional(*at) : std::nullopt, row.at) << row.name;
    EXPECT_EQ(at ? "" : failure_name(at.error()), row.failure) << row.name;
  }
}

TEST(ResolveId, AmbiguityNamesACandidate) {
  const auto at = resolve_id(kIds, "abcde");
  ASSERT_FALSE(at);
  EXPECT_EQ(at.error().text, "'abcde' is ambiguous: abcdef01 and 1 others match");
}

}  // namespace
}  // namespace kcg::cgctl
