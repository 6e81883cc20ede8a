// SPDX-License-Identifier: Apache-2.0
#include "record/found_groups.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <set>

#include "fold_case.hpp"

namespace kcg::test {
namespace {

GroupRef group(const char* path) { return {"v2", CgroupPath::parse(path).value()}; }

TEST(FoundGroups, AreThoseThatWereFound) {
  FoundGroups found;
  EXPECT_TRUE(found.empty());
  found.insert_all(std::set{group("/b")});
  found.insert_all(std::set{group("/a"), group("/b")});
  EXPECT_EQ(found.all(), (FlatSet<GroupRef>{group("/a"), group("/b")}));
  EXPECT_EQ(FoundGroups(std::set<GroupRef>()), FoundGroups());
}

TEST(Fold, WhatWasMarkedIsRememberedBeforeItIsSeen) {
  Case one;
  one.result(op::Mark{"S"}, Outcome::done);
  EXPECT_EQ(one.fold().record.found_groups.all().size(), 1U)
      << "the bundle may go before the next look";
  Case other;
  other.result(op::Mark{"S"}, Outcome::failed, EPERM);
  EXPECT_TRUE(other.fold().record.found_groups.empty());
}

/// Unknown is not absent.
TEST(Fold, WhatCouldNotBeLookedForIsNotForgotten) {
  const FoundGroups found(std::set{group("/a")});
  Case one;
  one.record.found_groups = found;
  one.observed.unread_groups.emplace_back("no more descriptors");
  EXPECT_EQ(one.fold().record.found_groups, found);
  one.observed.unread_groups.clear();
  EXPECT_TRUE(one.fold().record.found_groups.empty());
}

}  // namespace
}  // namespace kcg::test
