// SPDX-License-Identifier: Apache-2.0
#include "offline/held.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "support/sandbox_world.hpp"

namespace kcg::test {
namespace {

Scenario on(HierarchyMode mode) {
  Scenario scenario;
  scenario.mode = mode;
  return scenario;
}

TEST(Held, NobodyBeforeItWasPlaced) {
  SandboxWorld world(on(HierarchyMode::v2));
  world.boot();
  EXPECT_TRUE(find_held(world.tree).value().empty());
}

TEST(Held, EachProcessAndThreadOnce) {
  for (const auto mode : {HierarchyMode::v1, HierarchyMode::v2}) {
    SandboxWorld world(on(mode));
    world.boot();
    (void)world.pass();  // ignored: what it did is asked below
    const auto held = find_held(world.tree).value();
    ASSERT_EQ(held.size(), 1U);
    EXPECT_EQ(held[0].id, world.scenario.id);
    EXPECT_EQ(held[0].groups, std::vector<std::string>{world.expected_sandbox_group()});
    EXPECT_EQ(held[0].processes, 4U) << "shim, VMM, virtiofsd and its child";
    EXPECT_EQ(held[0].threads, world.classes.size());
  }
}

TEST(Held, EmptyGroupsAreTold) {
  SandboxWorld world(on(HierarchyMode::v2));
  world.boot();
  (void)world.pass();  // ignored: what it did is asked below
  world.end_all();
  const auto held = find_held(world.tree).value();
  ASSERT_EQ(held.size(), 1U);
  EXPECT_EQ(held[0].processes, 0U);
}

TEST(Held, WhatCannotBeReadIsNotEmpty) {
  SandboxWorld world(on(HierarchyMode::v2));
  world.boot();
  (void)world.pass();  // ignored: what it did is asked below
  const GroupRef group{"v2", CgroupPath::parse(world.expected_sandbox_group()).value()};
  world.tree.on_read([] { return EMFILE; });
  EXPECT_FALSE(held_groups(world.tree, world.scenario.id, {group}));
}

}  // namespace
}  // namespace kcg::test
