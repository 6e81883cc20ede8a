// SPDX-License-Identifier: Apache-2.0
#include "show/group_tree.hpp"

#include <gtest/gtest.h>

#include "support/sample_views.hpp"

namespace kcg {
namespace {

std::vector<Pid> tids(const GroupMembers& one) {
  std::vector<Pid> out;
  for (const auto* thread : one.threads) out.push_back(thread->tid);
  return out;
}

TEST(GroupMembers, OwnGroupsInOrderThenOthersByPath) {
  auto view = samples::degraded();
  view.threads[0].group_now = "/b";
  view.threads[1].group_now = "/a";
  const auto all = group_members(view);
  ASSERT_EQ(all.size(), view.groups.size() + 3);
  for (std::size_t i = 0; i < view.groups.size(); ++i) {
    EXPECT_EQ(all[i].path, view.groups[i].path);
    EXPECT_EQ(all[i].group, &view.groups[i]);
  }
  EXPECT_EQ(all[5].path, "/a");
  EXPECT_EQ(all[6].path, "/b");
  EXPECT_EQ(all[7].path, "/kubepods/burstable/pod1");
  EXPECT_EQ(all[5].group, nullptr);
}

TEST(GroupMembers, EachThreadOnceInTheGroupWhereItIs) {
  const auto view = samples::degraded();
  const auto all = group_members(view);
  EXPECT_EQ(tids(all[0]), std::vector<Pid>{});
  EXPECT_EQ(tids(all[1]), std::vector<Pid>{4241});
  EXPECT_EQ(tids(all[3]), (std::vector<Pid>{4200, 4240}));
  EXPECT_EQ(tids(all[5]), std::vector<Pid>{4242});
}

TEST(GroupMembers, AsDesired) {
  const auto view = samples::degraded();
  const auto all = group_members(view);
  EXPECT_FALSE(all[0].as_desired()) << "a limit should be another";
  EXPECT_TRUE(all[1].as_desired());
  EXPECT_TRUE(all[2].as_desired()) << "empty";
  EXPECT_FALSE(all[3].as_desired()) << "holds the shim";
  EXPECT_FALSE(all[4].as_desired()) << "missing";
  EXPECT_FALSE(all[5].as_desired()) << "holds a vCPU thread";
}

TEST(Misplaced, OnlyWhoBelongsSomewhere) {
  ThreadView thread;
  EXPECT_FALSE(misplaced(thread)) << "nobody wants it anywhere";
  thread.group_wanted = "/a";
  EXPECT_TRUE(misplaced(thread));
  thread.placed = true;
  EXPECT_FALSE(misplaced(thread));
}

}  // namespace
}  // namespace kcg
