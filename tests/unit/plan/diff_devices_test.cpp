// SPDX-License-Identifier: Apache-2.0
//
// diff(): device programs follow those of Kata's group.
#include <gtest/gtest.h>

#include <cerrno>

#include "plan/diff.hpp"
#include "support/allowed.hpp"
#include "support/sandbox_world.hpp"

namespace kcg::test {
namespace {

Scenario with_programs(unsigned count) {
  Scenario s;
  s.strangers = 0;
  s.id = "S";
  s.device_programs = count;
  return s;
}

TEST(DiffDevices, DeviceProgramsFollowWhatKataChanges) {
  SandboxWorld world(with_programs(1));
  world.boot();
  (void)world.pass();
  EXPECT_EQ(describe(world.look().plan), "");
  const GroupRef kata{"v2", CgroupPath::parse(world.kata_group).value()};
  const auto added = world.kata_adds_device_program();
  world.tree.outside(
      [&](CgroupTree& tree) { EXPECT_TRUE(tree.change_devices(kata, {100, 0, false})); });
  const auto plan = world.look().plan;
  ASSERT_EQ(plan.steps.size(), 2U) << describe(plan);
  EXPECT_EQ(plan.steps[0].operation,
            Operation(op::Device{DeviceChange{added, kSeveralPrograms, true}}));
  EXPECT_EQ(plan.steps[1].operation,
            Operation(op::Device{DeviceChange{100, kSeveralPrograms, false}}));
  EXPECT_EQ(text_of(plan.steps[1]).old_value, "100");
  (void)world.pass();
  EXPECT_EQ(describe(world.look().plan), "");
}

TEST(DiffDevices, TheLastDeviceProgramIsTakenOffAsWell) {
  for (const unsigned count : {1U, 2U}) {
    SandboxWorld world(with_programs(count));
    world.boot();
    (void)world.pass();
    const GroupRef kata{"v2", CgroupPath::parse(world.kata_group).value()};
    const GroupRef ours{"v2", CgroupPath::parse(world.expected_sandbox_group()).value()};
    ASSERT_EQ(world.tree.devices(ours)->programs.size(), count);
    world.tree.outside([&](CgroupTree& tree) {
      const auto policy = tree.devices(kata).value();
      for (const auto id : policy.programs) EXPECT_TRUE(tree.change_devices(kata, {id, 0, false}));
    });
    world.tree.hide_devices(EPERM);
    EXPECT_EQ(describe(world.look().plan), "") << "what cannot be seen is not nothing";
    world.tree.hide_devices(0);
    const auto plan = world.look().plan;
    ASSERT_EQ(plan.steps.size(), count) << describe(plan);
    EXPECT_EQ(plan.steps[0].operation,
              Operation(op::Device{DeviceChange{100, kSeveralPrograms, false}}));
    (void)world.pass();
    EXPECT_TRUE(world.tree.devices(ours)->programs.empty());
    EXPECT_EQ(describe(world.look().plan), "");
  }
}

TEST(DiffDevices, DeviceProgramsStayWhenKatasGroupIsGone) {
  SandboxWorld world(with_programs(1));
  world.boot();
  (void)world.pass();
  world.tree.outside([&](CgroupTree& tree) {
    EXPECT_TRUE(tree.remove({"v2", CgroupPath::parse(world.kata_group).value()}));
  });
  EXPECT_EQ(describe(world.look().plan), "");
}

TEST(DiffDevices, DeviceProgramsStayWhenKatasGroupGoesWhileItIsLookedAt) {
  SandboxWorld world(with_programs(1));
  world.boot();
  (void)world.pass();
  world.tree.hide_devices(ENOENT);
  EXPECT_EQ(describe(world.look().plan), "");
}

TEST(DiffDevices, ASingleDeviceProgramIsReplacedNotTakenOff) {
  Observed observed;
  Desired want;
  want.act = true;
  observed.inputs.id = SandboxId::parse("S").value();
  WantedGroup group;
  group.ref = {"v2", CgroupPath::parse("/p/kata-sandbox-S").value()};
  group.devices = DevicePolicy{1, {7}, ""};
  want.groups = {group};
  auto& state = observed.groups[group.ref];
  state.ref = group.ref;
  state.mark = "S";
  state.devices = {1, {6}, ""};
  const auto plan = diff(observed, want);
  ASSERT_EQ(plan.steps.size(), 1U) << describe(plan);
  EXPECT_EQ(plan.steps[0].operation, Operation(op::Device{DeviceChange{7, 1, true}}));
}

}  // namespace
}  // namespace kcg::test
