// SPDX-License-Identifier: Apache-2.0
#include "kernel/cpuset.hpp"

#include <gtest/gtest.h>

namespace kcg {
namespace {

TEST(CpuSet, ParsesToCanonicalForm) {
  const struct {
    const char *name, *text, *canonical;
  } rows[] = {
      {"empty", "", ""},
      {"empty line", "\n", ""},
      {"one", "0\n", "0"},
      {"range and one", "0-3,7", "0-3,7"},
      {"unordered", "7,0-3", "0-3,7"},
      {"neighbours join", "0,1,2,3", "0-3"},
      {"neighbouring ranges join", "4-5,0-3", "0-5"},
      {"overlap", "0-5,3-9", "0-9"},
      {"contained", "0-9,3-4", "0-9"},
      {"twice", "3,3", "3"},
      {"range of one", "3-3", "3"},
      {"largest", "65535", "65535"},
      {"leading zero", "007", "7"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto set = CpuSet::parse(row.text);
    ASSERT_TRUE(set) << set.error().text;
    EXPECT_EQ(set->str(), row.canonical);
    EXPECT_EQ(CpuSet::parse(set->str()), set);
  }
}

TEST(CpuSet, RefusesAndNamesThePart) {
  const struct {
    const char *name, *text, *named;
  } rows[] = {
      {"word", "all", "'all'"},
      {"negative", "-1", "'-1'"},
      {"open range", "3-", "'3-'"},
      {"descending", "7-3", "'7-3'"},
      {"empty part", "0,,1", "''"},
      {"final comma", "0,", "''"},
      {"stride", "0-7:1/2", "'0-7:1/2'"},
      {"blank inside", "0, 1", "' 1'"},
      {"too large", "65536", "'65536'"},
      {"overflow", "18446744073709551616", "'18446744073709551616'"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto set = CpuSet::parse(row.text);
    ASSERT_FALSE(set);
    EXPECT_NE(set.error().text.find(row.named), std::string::npos) << set.error().text;
  }
}

TEST(CpuSet, Unites) {
  const struct {
    const char *name, *a, *b, *both;
  } rows[] = {
      {"nothing", "", "", ""},
      {"with nothing", "1-2", "", "1-2"},
      {"apart", "0-1", "4", "0-1,4"},
      {"bridge", "0,2", "1", "0-2"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto a = CpuSet::parse(row.a).value();
    const auto b = CpuSet::parse(row.b).value();
    EXPECT_EQ(a.united(b).str(), row.both);
    EXPECT_EQ(b.united(a), a.united(b));
    EXPECT_EQ(a.united(b).empty(), std::string_view(row.both).empty());
  }
}

}  // namespace
}  // namespace kcg
