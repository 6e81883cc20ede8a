// SPDX-License-Identifier: Apache-2.0
#include "record/found_groups.hpp"

#include <gtest/gtest.h>

#include <set>

namespace kcg {
namespace {

GroupRef group(const char* path) { return {"v2", CgroupPath::parse(path).value()}; }

TEST(FoundGroups, AreThoseThatWereFoundAndHaveNotGone) {
  FoundGroups found;
  EXPECT_TRUE(found.empty());
  found.insert(group("/a"));
  found.insert_all(std::set{group("/b"), group("/a")});
  EXPECT_EQ(found.all(), (FlatSet<GroupRef>{group("/a"), group("/b")}));
  found.erase(group("/c"));
  found.erase(group("/a"));
  EXPECT_EQ(found, FoundGroups(std::set{group("/b")}));
  found.erase(group("/b"));
  EXPECT_TRUE(found.empty());
  EXPECT_EQ(found, FoundGroups());
}

}  // namespace
}  // namespace kcg
