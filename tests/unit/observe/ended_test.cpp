// SPDX-License-Identifier: Apache-2.0
//
// When a sandbox is seen to have ended, and what is read of one that has.
#include <gtest/gtest.h>

#include <algorithm>

#include "observe/sandbox.hpp"
#include "sandbox_scenes.hpp"
#include "support/sandbox_world.hpp"

namespace kcg::test {
namespace {

TEST(Observe, GoneIs) {
  SandboxWorld world(scenario());
  EXPECT_FALSE(world.observe().gone) << "a bundle whose shim has not started yet";
  world.boot();
  (void)world.pass();
  world.end_vmm();
  EXPECT_FALSE(world.observe().gone) << "the shim lives";
  world.end_all();
  EXPECT_TRUE(world.observe().gone);
  (void)world.pass();
  EXPECT_TRUE(world.observe().gone) << "also when its groups are gone and its bundle is not";
}

TEST(Observe, GoneWithoutBundleAndProcesses) {
  SandboxWorld world(scenario());
  world.assembled.inputs.bundle.reset();
  EXPECT_TRUE(world.observe().gone);
}

TEST(Observe, AGroupFoundAtTheStartOfASandboxThatEndedMeanwhile) {
  SandboxWorld world(scenario());
  world.boot();
  (void)world.pass();
  world.end_all();
  world.kata_cleans_up();
  world.restart_daemon();
  EXPECT_TRUE(world.observe().gone);
  (void)world.pass();
  EXPECT_TRUE(world.marked_groups().empty());
}

TEST(Observe, AHelperThatOutlivesShimAndVmmBlocksNothingButTheRemoval) {
  SandboxWorld world(scenario());
  world.boot();
  (void)world.pass();
  world.end_vmm();
  world.end_shim();
  const auto pass = world.pass();
  EXPECT_TRUE(pass.last().observed.gone);
  EXPECT_FALSE(world.marked_groups().empty());
  world.end_all();
  (void)world.pass();
  EXPECT_TRUE(world.marked_groups().empty());
}

/// Who is left in a single hierarchy keeps his group there.
TEST(Observe, OfOneThatHasEndedOneHierarchyTellsWhoIsLeft) {
  SandboxWorld world(scenario(HierarchyMode::v1));
  world.boot();
  (void)world.pass();
  const auto top = path(world.expected_sandbox_group());
  const Pid left = put_by_hand(world, {"cpu", top});
  world.end_all();
  EXPECT_TRUE(world.observe().foreign.empty());
  (void)world.pass();
  const auto marked = world.marked_groups();
  EXPECT_NE(std::find(marked.begin(), marked.end(), fmt::format("cpu:{}", top.str())), marked.end())
      << "rmdir(2) takes no group that anybody is in";
  EXPECT_EQ(foreign(world.observe()), std::vector<Pid>{left}) << "no other is left to tell";
}

TEST(Observe, WhoIsInOneHierarchyOfWhatWasOnlyFoundMayBeItsVmm) {
  SandboxWorld world(scenario(HierarchyMode::v1));
  world.boot();
  (void)world.pass();
  (void)put_by_hand(world, {"cpu", path(world.expected_sandbox_group())});
  world.end_all();
  world.restart_daemon();
  EXPECT_FALSE(world.observe().gone);
}

/// Nothing limits one that has ended, and its end is looked at as often as its start.
TEST(Observe, OfOneThatHasEndedNoLimitsAreRead) {
  SandboxWorld world(scenario(HierarchyMode::v1));
  world.boot();
  (void)world.pass();
  const auto top = CgroupPath::parse(world.expected_sandbox_group()).value();
  const auto has = [&](const char* hierarchy, const char* file) {
    return world.observe().groups.at({hierarchy, top}).files.contains(file);
  };
  EXPECT_TRUE(has("cpu", "cpu.shares"));
  world.end_vmm();
  EXPECT_TRUE(has("cpu", "cpu.shares")) << "the shim lives";
  world.end_all();
  EXPECT_FALSE(has("cpu", "cpu.shares"));
  EXPECT_TRUE(has("memory", "cgroup.procs")) << "who is left";
  EXPECT_TRUE(has("memory", "memory.oom_control")) << "who was killed";
  EXPECT_FALSE(has("memory", "memory.limit_in_bytes"));
  (void)world.pass();
  EXPECT_TRUE(world.marked_groups().empty());
}

/// What the condition tells of a kill.
TEST(Observe, OfOneWhoseEndWasAKillItIsReadWhatMemoryWasAllowed) {
  for (const bool v2 : {false, true}) {
    SandboxWorld world(scenario(v2 ? HierarchyMode::v2 : HierarchyMode::v1));
    world.boot();
    (void)world.pass();
    const GroupRef top{v2 ? "v2" : "memory", path(world.expected_sandbox_group())};
    world.tree.set_file(top, v2 ? "memory.events" : "memory.oom_control", "oom 1\noom_kill 1");
    world.end_all();
    const auto observed = world.observe();
    EXPECT_TRUE(observed.groups.at(top).file(v2 ? "memory.max" : "memory.limit_in_bytes"));
    EXPECT_TRUE(observed.groups.at(top).file(v2 ? "memory.peak" : "memory.max_usage_in_bytes"));
  }
}

/// Its top lists who is in any of them.
TEST(Observe, OfOneThatHasEndedTheTopTellsOfAllThreads) {
  SandboxWorld world(scenario(HierarchyMode::v2));
  world.boot();
  (void)world.pass();
  const auto top = CgroupPath::parse(world.expected_sandbox_group()).value();
  const auto vcpus = top.child("vcpu").value();
  const auto has = [&](const CgroupPath& group, const char* file) {
    return world.observe().groups.at({"v2", group}).files.contains(file);
  };
  EXPECT_TRUE(has(vcpus, "cgroup.type"));
  EXPECT_TRUE(has(top, "cgroup.controllers"));
  world.end_all();
  EXPECT_TRUE(has(top, "cgroup.type"));
  EXPECT_TRUE(has(top, "cgroup.procs"));
  EXPECT_FALSE(has(vcpus, "cgroup.type"));
  EXPECT_FALSE(has(top, "cgroup.controllers"));
  EXPECT_TRUE(world.observe().unread_processes.empty());
  (void)world.pass();
  EXPECT_TRUE(world.marked_groups().empty());
}

/// Its shim may be found by what only a look tells.
TEST(Observe, OneThatLivesAgainIsSeenWhole) {
  SandboxWorld world(scenario(HierarchyMode::v1));
  world.boot();
  (void)world.pass();
  world.end_all();
  world.record.ended = world.clock.now();
  world.record.trusted = {};
  world.boot();
  const auto observed = world.observe();
  EXPECT_FALSE(observed.gone);
  const auto top = CgroupPath::parse(world.expected_sandbox_group()).value();
  EXPECT_TRUE(observed.groups.at({"cpu", top}).file("cpu.shares"));
}

}  // namespace
}  // namespace kcg::test
