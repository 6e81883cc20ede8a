// SPDX-License-Identifier: Apache-2.0
#include "plan/desired.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "diff_steps.hpp"
#include "support/allowed.hpp"
#include "support/sandbox_world.hpp"

namespace kcg::test {
namespace {

bool has(const std::vector<Condition>& conditions, ConditionName name) {
  return std::any_of(conditions.begin(), conditions.end(),
                     [&](const Condition& c) { return c.condition == name; });
}

const WantedGroup* find(const Desired& want, GroupRole role, const std::string& hierarchy) {
  for (const auto& group : want.groups)
    if (group.role == role && group.ref.hierarchy == hierarchy && !group.shared) return &group;
  return nullptr;
}

// --- when ---------------------------------------------------------------------------------------

TEST(Desired, TheShimIsPlacedAtItsExecWithCgroupfs) {
  for (const auto mode : {HierarchyMode::v1, HierarchyMode::v2}) {
    SandboxWorld world(scenario(mode));
    world.start_shim();
    (void)world.pass();
    EXPECT_EQ(world.misplaced(), "");
    world.kata_makes_groups();
    EXPECT_NE(world.misplaced(), "") << "it moved itself";
    (void)world.pass();
    EXPECT_EQ(world.misplaced(), "") << "and was moved again";
    world.start_vmm();
    EXPECT_FALSE(world.record.fixed);
    (void)world.pass();
    EXPECT_EQ(world.misplaced(), "");
    EXPECT_TRUE(world.record.fixed);
  }
}

TEST(Desired, NothingIsDoneInASliceBeforeTheVmmExecutes) {
  for (const bool kata_only : {true, false}) {
    auto s = scenario(HierarchyMode::v2, true);
    s.kata_only = kata_only;
    s.config.layout.sandbox_cgroup_only = true;
    SandboxWorld world(s);
    world.start_shim();
    (void)world.pass();
    world.kata_makes_groups();
    const auto pass = world.pass();
    EXPECT_TRUE(world.tree.log().empty());
    EXPECT_TRUE(world.systemd.waiting().empty());
    EXPECT_NE(pass.last().want.waiting_for, "");
    EXPECT_EQ(world.record.state, SandboxState::discovered);
    world.start_vmm();
    (void)world.pass();
    world.end_jobs();
    (void)world.pass();
    EXPECT_EQ(world.misplaced(), "");
  }
}

TEST(Desired, LegacyWaitsForTheVmmAsWell) {
  auto s = scenario(HierarchyMode::v1);
  s.kata_only = false;
  SandboxWorld world(s);
  world.start_shim();
  world.kata_makes_groups();
  (void)world.pass();
  EXPECT_TRUE(world.tree.log().empty());
}

TEST(Desired, EarlyPlacementDoesNotDecideTheLayout) {
  auto s = scenario(HierarchyMode::v1);
  s.kata_only = false;
  SandboxWorld world(s);
  auto& said = world.assembled.inputs.kata->sandbox_cgroup_only;
  said.reset();  // Kata's state is not written yet
  world.start_shim();
  world.kata_makes_groups();
  (void)world.pass();
  ASSERT_FALSE(world.tree.log().empty());
  said = false;
  world.start_vmm();
  world.start_threads();
  const auto pass = world.pass();
  EXPECT_EQ(pass.last().want.form, Form::legacy_v1);
  EXPECT_FALSE(has(pass.last().want.conditions, ConditionName::layout_changed));
  EXPECT_EQ(world.misplaced(), "");
  for (const auto& group : world.marked_groups())
    EXPECT_EQ(group.find("kata-sandbox-"), std::string::npos) << group;
}

TEST(Desired, WhoIsNotProvenIsLeftAlone) {
  SandboxWorld world(scenario(HierarchyMode::v2));
  world.boot();
  auto observed = world.observe();
  observed.proven_kata = false;
  const auto want = desired(world.scenario.config, observed);
  EXPECT_FALSE(want.act);
  EXPECT_NE(want.waiting_for.find("no proof"), std::string::npos);
}

TEST(Desired, WaitsForThePodCgroup) {
  auto s = scenario(HierarchyMode::v2);
  s.pod_less = false;
  SandboxWorld world(s);
  world.start_shim();
  world.tree.outside([&](CgroupTree& tree) {
    ASSERT_TRUE(tree.remove({"v2", CgroupPath::parse(world.pod_group).value()}));
  });
  const auto want = world.look().want;
  EXPECT_FALSE(want.act);
  EXPECT_NE(want.waiting_for.find(world.pod_group), std::string::npos);
}

TEST(Desired, APodLessSandboxMakesItsParents) {
  auto s = scenario(HierarchyMode::v2);
  s.pod_less = true;
  SandboxWorld world(s);
  world.start_shim();
  (void)world.pass();
  EXPECT_EQ(world.misplaced(), "");
}

TEST(Desired, AV1CpusetWithoutItsParentWaitsAlone) {
  auto s = scenario(HierarchyMode::v1);
  s.pod_less = true;
  s.kata_cpuset = false;
  SandboxWorld world(s);
  world.boot();
  world.tree.outside([&](CgroupTree& tree) {  // ignored: it may not be there at all
    (void)tree.remove({"cpuset", CgroupPath::parse("/docker").value()});
  });
  (void)world.pass();
  EXPECT_EQ(world.tree.group_of(world.vmm, "cpu"), "/docker/kata-sandbox-" + s.id + "/vmm");
  EXPECT_EQ(world.tree.group_of(world.vmm, "cpuset"), "/system.slice/containerd.service");
}

TEST(Desired, WhatRanBeforeOurFirstStartIsUnmanaged) {
  SandboxWorld world(scenario(HierarchyMode::v2));
  world.boot();
  world.context.managed_since = world.proc.key(world.vmm).start + 1;
  const auto pass = world.pass();
  EXPECT_TRUE(world.tree.log().empty());
  EXPECT_EQ(world.record.state, SandboxState::unmanaged);
  EXPECT_FALSE(world.record.fixed);
  EXPECT_NE(pass.last().want.waiting_for, "");

  world.context.managed_since = world.proc.key(world.vmm).start;
  (void)world.pass();
  EXPECT_EQ(world.misplaced(), "");
  // Our mark makes it ours, whenever it started.
  world.context.managed_since = world.proc.key(world.vmm).start + 1;
  (void)world.pass();
  EXPECT_EQ(world.record.state, SandboxState::placed);
}

TEST(Desired, ADragonballThatRanBeforeOurFirstStartIsUnmanaged) {
  SandboxWorld world(scenario(HierarchyMode::v2));
  world.assembled.inputs.kata->hypervisor = "dragonball";
  world.start_shim();
  world.context.managed_since = world.proc.key(world.shim).start + 1;
  EXPECT_TRUE(world.observe().unmanaged);
}

TEST(Desired, Dragonball) {
  SandboxWorld world(scenario(HierarchyMode::v2));
  world.assembled.inputs.kata->hypervisor = "dragonball";
  world.start_shim();
  world.kata_makes_groups();
  const Pid vcpu = world.proc.add_thread(world.shim, "db_vcpu0");
  const Pid io = world.proc.add_thread(world.shim, "blk_iothread0");
  (void)world.pass();
  const auto top = world.expected_sandbox_group();
  EXPECT_EQ(world.tree.group_of(vcpu, "v2"), top + "/vcpu");
  EXPECT_EQ(world.tree.group_of(io, "v2"), top + "/io");
  EXPECT_TRUE(world.record.fixed);
}

// --- what ---------------------------------------------------------------------------------------

TEST(Desired, ASandboxThatIsGoneWantsNothing) {
  SandboxWorld world(scenario(HierarchyMode::v2));
  world.boot();
  (void)world.pass();
  world.end_all();
  const auto want = world.look().want;
  EXPECT_TRUE(want.act);
  EXPECT_TRUE(want.groups.empty());
  EXPECT_TRUE(want.processes.empty());
}

TEST(Desired, AnUnusablePathIsSaid) {
  SandboxWorld world(scenario(HierarchyMode::v2));
  world.start_shim();
  world.assembled.inputs.bundle->cgroups_path = "a--b.slice:x:S";
  const auto want = world.look().want;
  EXPECT_FALSE(want.act);
  EXPECT_TRUE(has(want.conditions, ConditionName::bundle_unreadable));
}

TEST(Desired, V2ControllersNeverComeFromASlice) {
  struct Row {
    const char* path;
    bool enables;
  };
  for (const auto& row : {Row{"/kubepods/burstable/pod1/S", true}, Row{"/system.slice/S", false},
                          Row{"/kata_vc/S", false}}) {
    SandboxWorld world(scenario(HierarchyMode::v2));
    world.assembled.inputs.bundle->cgroups_path = row.path;
    for (const char* path : {"/system.slice", "/kata_vc"}) world.tree.make_all("v2", path);
    world.start_shim();
    const auto want = world.look().want;
    EXPECT_EQ(!want.enables.empty(), row.enables) << row.path;
  }
}

TEST(Desired, ScopesOnV1StandWhereSystemdMakesThem) {
  auto s = scenario(HierarchyMode::v1, true);
  s.kata_only = false;
  s.config.layout.sandbox_cgroup_only = true;
  s.kata_cpuset = false;
  SandboxWorld world(s);
  world.boot();
  const auto want = world.look().want;
  ASSERT_EQ(want.form, Form::own_scope);
  EXPECT_TRUE(find(want, GroupRole::sandbox, "cpu")->scope);
  EXPECT_TRUE(find(want, GroupRole::sandbox, "memory")->scope);
  EXPECT_FALSE(find(want, GroupRole::sandbox, "cpuset")->scope);
}

TEST(Desired, WeightsFollowTheNumberOfVcpus) {
  for (const unsigned vcpus : {1U, 3U}) {
    auto s = scenario(HierarchyMode::v2);
    s.vcpus = vcpus;
    SandboxWorld world(s);
    world.boot();
    (void)world.pass();
    const auto text = std::to_string(100 * vcpus);
    EXPECT_EQ(world.tree
                  .read({"v2", CgroupPath::parse(world.expected_sandbox_group() + "/vcpu").value()},
                        "cpu.weight")
                  .value(),
              text);
  }
}

TEST(Desired, TheQuotaWaitsForTheFirstContainer) {
  auto s = scenario(HierarchyMode::v2);
  SandboxWorld world(s);
  auto containers = std::exchange(world.assembled.inputs.containers, {});
  world.assembled.inputs.bundle->total_cpu_quota = 50'000;
  world.assembled.inputs.bundle->total_cpu_period = 100'000;
  world.boot();
  (void)world.pass();
  const GroupRef vcpu{"v2", CgroupPath::parse(world.expected_sandbox_group() + "/vcpu").value()};
  EXPECT_EQ(world.tree.read(vcpu, "cpu.max").value(), "max 100000");
  world.assembled.inputs.containers = containers;
  (void)world.pass();
  EXPECT_EQ(world.tree.read(vcpu, "cpu.max").value(), "50000 100000");
  EXPECT_TRUE(world.record.history.container_started);
  world.assembled.inputs.containers.clear();
  (void)world.pass();
  EXPECT_TRUE(world.record.history.container_started) << "it has booted, and stays booted";
}

TEST(Desired, MemoryRemembersItsLargestSum) {
  auto s = scenario(HierarchyMode::v2);
  s.config.sizing.memory = MemorySizing::always;
  s.containers = 2;
  SandboxWorld world(s);
  world.boot();
  (void)world.pass();
  EXPECT_EQ(world.record.history.largest_memory_sum, std::uint64_t{1024} << 20);
  world.assembled.inputs.containers.pop_back();
  (void)world.pass();
  EXPECT_EQ(world.record.history.largest_memory_sum, std::uint64_t{1024} << 20);
}

TEST(Desired, TheFirstLimitIsNotWrittenBelowUsage) {
  auto s = scenario(HierarchyMode::v2);
  s.config.sizing.memory = MemorySizing::always;
  SandboxWorld world(s);
  world.boot();
  auto round = world.look();
  const GroupRef top{"v2", CgroupPath::parse(world.expected_sandbox_group()).value()};
  GroupState state;
  state.ref = top;
  state.mark = s.id;
  state.files = {{"cgroup.controllers", "cpu memory"},
                 {"memory.max", "max"},
                 {"memory.current", "99999999999"}};
  round.observed.groups[top] = state;
  auto want = desired(s.config, round.observed);
  EXPECT_TRUE(has(want.conditions, ConditionName::limit_below_usage));
  EXPECT_TRUE(find(want, GroupRole::sandbox, "v2")->limits.empty());
  round.observed.groups[top].files["memory.current"] = "1";
  want = desired(s.config, round.observed);
  EXPECT_FALSE(has(want.conditions, ConditionName::limit_below_usage));
  EXPECT_EQ(find(want, GroupRole::sandbox, "v2")->limits.size(), 1U);
}

TEST(Desired, AVmmWithoutVcpusIsSaidAfterAWhile) {
  auto s = scenario(HierarchyMode::v2);
  s.kvm_entries = s.thread_names = false;
  SandboxWorld world(s);
  world.boot();
  auto round = world.look();
  round.observed.vmm_age_ms = 4999;
  EXPECT_FALSE(
      has(desired(s.config, round.observed).conditions, ConditionName::threads_unclassified));
  round.observed.vmm_age_ms = 5000;
  EXPECT_TRUE(
      has(desired(s.config, round.observed).conditions, ConditionName::threads_unclassified));
  (void)world.pass();
  EXPECT_EQ(world.misplaced(), "") << "all of them stay together";
}

TEST(Desired, AVmmThatHasLostItsVcpusKeepsItsThreadsInPlace) {
  for (const auto mode : {HierarchyMode::v1, HierarchyMode::v2}) {
    auto s = scenario(mode);
    s.thread_names = true;
    SandboxWorld world(s);
    world.boot();
    (void)world.pass();
    world.proc.set_vcpus(world.vmm, {});
    for (const Pid tid : world.vcpus) world.proc.rename(tid, "qemu-kvm");
    EXPECT_EQ(describe(world.look().plan), "") << "nothing tells its vCPUs any more";
    for (const Pid tid : world.vcpus) world.proc.exit_thread(tid);
    EXPECT_EQ(describe(world.look().plan), "") << "it ends, and they were first";
  }
}

TEST(Desired, KernelThreadsAreNeverMoved) {
  SandboxWorld world(scenario(HierarchyMode::v2));
  world.boot();
  auto round = world.look();
  const auto count = desired(world.scenario.config, round.observed).processes.size();
  round.observed.processes.back().facts.kernel_thread = true;
  EXPECT_EQ(desired(world.scenario.config, round.observed).processes.size(), count - 1);
}

TEST(Desired, ACpusetThatThePodDoesNotHaveIsNotTried) {
  auto s = scenario(HierarchyMode::v1);
  s.config.layout.sandbox_cgroup_only = true;
  s.kata_cpuset = false;
  SandboxWorld world(s);
  world.assembled.inputs.containers.front().resources.cpus = "64-65";
  world.boot();
  const auto want = world.look().want;
  const auto* group = find(want, GroupRole::sandbox, "cpuset");
  ASSERT_NE(group, nullptr);
  EXPECT_EQ(group->seeds.at(0), (WantedFile{"cpuset.cpus", "0-3"}));
}

TEST(Desired, ConditionsOfTheLayoutAreSaid) {
  auto s = scenario(HierarchyMode::v2);
  s.kata_only = false;
  SandboxWorld world(s);
  world.boot();
  EXPECT_TRUE(has(world.look().want.conditions, ConditionName::legacy_not_on_v2));
  s.config.layout.sandbox_cgroup_only = false;
  SandboxWorld chosen(s);
  chosen.boot();
  EXPECT_TRUE(has(chosen.look().want.conditions, ConditionName::legacy_emulated_on_v2));
}

}  // namespace
}  // namespace kcg::test
