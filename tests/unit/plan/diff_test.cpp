// SPDX-License-Identifier: Apache-2.0
#include "plan/diff.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "diff_steps.hpp"
#include "plan/desired.hpp"
#include "support/allowed.hpp"
#include "support/sandbox_world.hpp"

namespace kcg::test {
namespace {

TEST(Diff, MemoryAndSwapTogetherGoAheadOfMemory) {
  auto s = scenario(HierarchyMode::v1);
  s.config.sizing.memory = MemorySizing::always;
  SandboxWorld world(s);
  world.boot();
  (void)world.pass();
  const GroupRef ours{"memory", CgroupPath::parse(world.expected_sandbox_group()).value()};
  const auto before = world.tree.read(ours, "memory.limit_in_bytes").value();
  world.tree.outside([&](CgroupTree& tree) {
    EXPECT_TRUE(tree.write(ours, "memory.memsw.limit_in_bytes", before));
  });
  EXPECT_EQ(describe(world.look().plan), "") << "as long as it does not hinder";
  world.assembled.inputs.containers.front().resources.memory_limit = std::int64_t{1} << 30;
  const auto all = steps(world, world.look().plan, "memory");
  const auto value = std::to_string((std::uint64_t{1024} + 350 + 256) << 20);
  EXPECT_EQ(all,
            (std::vector<std::string>{"limit /kata-sandbox-S memory.memsw.limit_in_bytes=" + value,
                                      "limit /kata-sandbox-S memory.limit_in_bytes=" + value}));
  (void)world.pass();
  EXPECT_EQ(world.tree.read(ours, "memory.limit_in_bytes").value(), value);
  EXPECT_EQ(describe(world.look().plan), "");
}

TEST(Diff, DeviceProgramsAreCarriedBeforeTheFirstMove) {
  SandboxWorld world(with_programs(2));
  world.boot();
  const auto all = steps(world, world.look().plan, "v2");
  const auto first = position(all, "device /kata-sandbox-S device-program=100");
  EXPECT_EQ(position(all, "device /kata-sandbox-S device-program=101"), first + 1);
  EXPECT_GT(first, position(all, "mark /kata-sandbox-S"));
  EXPECT_LT(first, position(all, "limit"));
  EXPECT_LT(first, position(all, "move-"));
}

TEST(Diff, OrderOnV2) {
  SandboxWorld world(scenario(HierarchyMode::v2));
  world.boot();
  const std::vector<std::string> expected = {
      "enable . cgroup.subtree_control=+cpu",
      "enable . cgroup.subtree_control=+cpuset",
      "enable . cgroup.subtree_control=+memory",
      "enable . cgroup.subtree_control=+io",
      "enable . cgroup.subtree_control=+pids",
      "create /kata-sandbox-S",
      "mark /kata-sandbox-S",
      "create /kata-sandbox-S/vcpu",
      "mark /kata-sandbox-S/vcpu",
      "enable /kata-sandbox-S/vcpu cgroup.type=threaded",
      "create /kata-sandbox-S/io",
      "mark /kata-sandbox-S/io",
      "enable /kata-sandbox-S/io cgroup.type=threaded",
      "create /kata-sandbox-S/vmm",
      "mark /kata-sandbox-S/vmm",
      "enable /kata-sandbox-S/vmm cgroup.type=threaded",
      "create /kata-sandbox-S/shim",
      "mark /kata-sandbox-S/shim",
      "enable /kata-sandbox-S/shim cgroup.type=threaded",
      "enable /kata-sandbox-S cgroup.subtree_control=+cpu",
      "enable /kata-sandbox-S cgroup.subtree_control=+cpuset",
      "enable /kata-sandbox-S cgroup.subtree_control=+pids",
      "limit /kata-sandbox-S/vcpu cpu.max=50000 100000",
      "limit /kata-sandbox-S/vcpu cpu.weight=100",
      "move-process /kata-sandbox-S/shim shim",
      "move-process /kata-sandbox-S/vmm vmm",
      "move-process /kata-sandbox-S/io io",
      "move-process /kata-sandbox-S/io io",
      "move-thread /kata-sandbox-S/vcpu vcpu",
      "move-thread /kata-sandbox-S/io io",
      "move-thread /kata-sandbox-S/io io",
  };
  EXPECT_EQ(steps(world, world.look().plan, "v2"), expected);
}

TEST(Diff, MemoryLimitComesBeforeTheFirstMember) {
  auto s = scenario(HierarchyMode::v2);
  s.config.sizing.memory = MemorySizing::always;
  SandboxWorld world(s);
  world.boot();
  const auto all = steps(world, world.look().plan, "v2");
  const auto limit = position(all, "limit /kata-sandbox-S memory.max=");
  EXPECT_LT(limit, all.size());
  EXPECT_LT(limit, position(all, "move-process"));
}

TEST(Diff, OrderInAV1Cpuset) {
  auto v1 = scenario(HierarchyMode::v1);
  v1.kata_cpuset = false;
  SandboxWorld world(v1);
  world.boot();
  const auto all = steps(world, world.look().plan, "cpuset");
  const std::vector<std::string> head(all.begin(), all.begin() + 2);
  EXPECT_EQ(head, (std::vector<std::string>{"create /kata-sandbox-S", "mark /kata-sandbox-S"}));
  EXPECT_LT(position(all, "seed /kata-sandbox-S cpuset.cpus=0-3"),
            position(all, "seed /kata-sandbox-S/vcpu cpuset.cpus=0-3"));
  EXPECT_LT(position(all, "seed /kata-sandbox-S/shim cpuset.mems=0"),
            position(all, "move-process /kata-sandbox-S/shim"));
}

TEST(Diff, V1SplitsThreadsInCpuAndCpuacctAndLeavesCpusetToKata) {
  SandboxWorld world(scenario(HierarchyMode::v1));
  world.boot();
  const auto plan = world.look().plan;
  EXPECT_EQ(steps(world, plan, "cpuset"), std::vector<std::string>{});
  for (const char* h : {"cpu", "cpuacct"})
    EXPECT_LT(position(steps(world, plan, h), "create /kata-sandbox-S/vcpu"),
              steps(world, plan, h).size())
        << h;
  for (const char* h : {"memory", "blkio", "pids"})
    EXPECT_EQ(steps(world, plan, h),
              (std::vector<std::string>{
                  "create /kata-sandbox-S", "mark /kata-sandbox-S",
                  "move-process /kata-sandbox-S shim", "move-process /kata-sandbox-S vmm",
                  "move-process /kata-sandbox-S io", "move-process /kata-sandbox-S io"}))
        << h;
}

TEST(Diff, NestedEnablesControllersWhenTheScopeIsEmpty) {
  SandboxWorld world(scenario(HierarchyMode::v2, true));
  world.boot();
  const auto pass = world.pass();
  ASSERT_GE(pass.rounds.size(), 3U);
  const auto enables = [&](const Plan& plan) {
    return std::count_if(plan.steps.begin(), plan.steps.end(), [&](const Step& step) {
      return step.group.path.str() == world.kata_group;
    });
  };
  EXPECT_EQ(enables(pass.rounds[0].plan), 0);
  EXPECT_EQ(enables(pass.rounds[1].plan), 5);
  EXPECT_EQ(pass.rounds[1].plan.steps.size(), 5U) << "nothing else in that round";
}

TEST(Diff, AForeignProcessKeepsTheControllersOff) {
  SandboxWorld world(scenario(HierarchyMode::v2, true));
  world.boot();
  const Pid stranger = world.proc.start(1, {"sh", "/bin/sh", {"sh"}});
  world.tree.outside([&](CgroupTree& tree) {
    (void)tree.write({"v2", CgroupPath::parse(world.kata_group).value()}, "cgroup.procs",
                     std::to_string(stranger));
  });
  const auto pass = world.pass();
  for (const auto& write : world.tree.log()) EXPECT_NE(write.group.path.str(), world.kata_group);
  EXPECT_EQ(world.misplaced(), "");
  EXPECT_EQ(world.tree.group_of(stranger, "v2"), world.kata_group);
  const auto& conditions = pass.last().want.conditions;
  EXPECT_TRUE(std::any_of(conditions.begin(), conditions.end(), [](const Condition& c) {
    return c.condition == ConditionName::foreign_process;
  }));
}

TEST(Diff, AMissingScopeIsTheOnlyStep) {
  auto s = scenario(HierarchyMode::v2, true);
  s.kata_only = false;
  s.config.layout.sandbox_cgroup_only = true;
  SandboxWorld world(s);
  world.boot();
  const auto plan = world.look().plan;
  ASSERT_EQ(plan.steps.size(), 1U);
  const auto* start = as<op::StartScope>(plan.steps[0]);
  ASSERT_NE(start, nullptr) << describe(plan);
  EXPECT_EQ(unit_of(plan.steps[0].group), "kata-sandbox-S.scope");
  EXPECT_EQ(slice_of(plan.steps[0].group), "kubepods-burstable-pod1.slice");
  EXPECT_EQ(start->first, world.proc.key(world.vmm)) << "the others follow";
}

TEST(Diff, AScopeInTheRootSlice) {
  Observed observed;
  observed.host = fake_host_v2();
  observed.inputs.id = SandboxId::parse("S").value();
  Desired want;
  want.act = true;
  want.groups.resize(1);
  want.groups[0].ref = {"v2", CgroupPath::parse("/kata-sandbox-S.scope").value()};
  want.groups[0].scope = true;
  want.processes.resize(1);
  EXPECT_EQ(slice_of(diff(observed, want).steps.at(0).group), "-.slice");
  want.processes.clear();
  EXPECT_TRUE(diff(observed, want).steps.empty()) << "systemd makes none without a process";
}

TEST(Diff, NothingWhileAJobIsOpenOrNothingIsToBeDone) {
  SandboxWorld world(scenario(HierarchyMode::v2));
  world.boot();
  auto round = world.look();
  ASSERT_FALSE(round.plan.steps.empty());
  auto pending = round.observed;
  pending.pending = PendingJob{"x.scope"};
  EXPECT_TRUE(diff(pending, round.want).steps.empty());
  round.want.act = false;
  EXPECT_TRUE(diff(round.observed, round.want).steps.empty());
}

TEST(Diff, ACrashBetweenMkdirAndMark) {
  SandboxWorld world(scenario(HierarchyMode::v2));
  world.boot();
  world.tree.make_all("v2", world.expected_sandbox_group());
  world.context.creation_recorded = true;
  const auto all = steps(world, world.look().plan, "v2");
  EXPECT_EQ(position(all, "create /kata-sandbox-S/vcpu"),
            position(all, "mark /kata-sandbox-S") + 1);
  EXPECT_EQ(std::count(all.begin(), all.end(), "create /kata-sandbox-S"), 0);
}

TEST(Diff, SomebodyElsesDirectoryAtOurPath) {
  for (const char* mark : {"", "other"}) {
    SandboxWorld world(scenario(HierarchyMode::v2));
    world.boot();
    world.tree.make_all("v2", world.expected_sandbox_group());
    if (*mark != '\0')
      world.tree.outside([&](CgroupTree& tree) {
        (void)tree.set_mark({"v2", CgroupPath::parse(world.expected_sandbox_group()).value()},
                            mark);
      });
    const auto pass = world.pass();
    EXPECT_TRUE(world.tree.log().empty());
    EXPECT_FALSE(pass.last().want.act);
    EXPECT_EQ(world.record.state, SandboxState::degraded);
    EXPECT_TRUE(std::any_of(
        world.record.conditions.begin(), world.record.conditions.end(),
        [](const auto& c) { return c.condition.condition == ConditionName::write_failed; }));
  }
}

TEST(Diff, WhatMayBeKatasStaysWhileKataHasState) {
  auto s = scenario(HierarchyMode::v1);
  s.kata_only = false;
  SandboxWorld world(s);
  world.boot();
  (void)world.pass();
  world.end_all();
  auto all = steps(world, world.look().plan, "cpu");
  EXPECT_EQ(all, (std::vector<std::string>{"remove /kata/S"}));
  world.assembled.inputs.kata.reset();
  all = steps(world, world.look().plan, "cpu");
  EXPECT_EQ(all, (std::vector<std::string>{"remove /kata_S", "remove /kata/S"}))
      << "/kata itself is everybody's";
}

/// A VM whose command line is not known may be of any size.
TEST(Diff, AScopeBeginsWithoutLimitsWhereSomethingCannotBeRead) {
  auto s = scenario(HierarchyMode::v2, true);
  s.kata_only = false;
  s.config.layout.sandbox_cgroup_only = true;
  s.config.sizing.memory = MemorySizing::always;
  SandboxWorld world(s);
  world.boot();
  const auto limits = [&](const Observed& observed) {
    const auto plan = diff(observed, desired(world.order().config, observed));
    const auto* start = plan.steps.size() == 1 ? as<op::StartScope>(plan.steps[0]) : nullptr;
    return start == nullptr ? std::nullopt : std::optional(start->limits.size());
  };
  auto observed = world.observe();
  EXPECT_GT(limits(observed).value_or(0), 0U);
  observed.unread_processes.emplace_back("process 7: cmdline: it hangs");
  EXPECT_EQ(limits(observed), 0U);
}

}  // namespace
}  // namespace kcg::test
