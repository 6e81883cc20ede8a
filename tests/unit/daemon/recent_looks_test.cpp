// SPDX-License-Identifier: Apache-2.0
#include "daemon/node/recent_looks.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace kcg::test {
namespace {

SandboxId id_of(std::size_t number) {
  return SandboxId::parse(fmt::format("sandbox{}", number)).value();
}

LastLook look_with(const char* said) {
  LastLook look;
  look.said.push_back({ConditionName::bundle_unreadable, said});
  return look;
}

TEST(RecentLooks, AreTheLastOfSoManySandboxes) {
  RecentLooks recent;
  for (std::size_t i = 0; i <= RecentLooks::kMost; ++i) recent.keep(id_of(i), look_with("once"));
  EXPECT_EQ(recent.size(), RecentLooks::kMost);
  EXPECT_EQ(recent.find(id_of(0)), nullptr) << "the oldest one";
  recent.keep(id_of(1), look_with("again"));
  EXPECT_EQ(recent.size(), RecentLooks::kMost);
  ASSERT_NE(recent.find(id_of(1)), nullptr);
  EXPECT_EQ(recent.find(id_of(1))->said.front().text, "again");
  recent.keep(id_of(0), look_with("once more"));
  EXPECT_EQ(recent.find(id_of(2)), nullptr) << "the oldest one now";
  recent.drop(id_of(1));
  EXPECT_EQ(recent.find(id_of(1)), nullptr);
}

TEST(RecentLooks, AreNotTrustedWithGroupsWhereWhatWasToldIsLost) {
  RecentLooks recent;
  for (std::size_t i = 0; i < 2; ++i) {
    recent.keep(id_of(i), look_with("once"));
    recent.find(id_of(i))->groups_hold = true;
  }
  recent.distrust_groups();
  for (std::size_t i = 0; i < 2; ++i) EXPECT_FALSE(recent.find(id_of(i))->groups_hold);
}

}  // namespace
}  // namespace kcg::test
