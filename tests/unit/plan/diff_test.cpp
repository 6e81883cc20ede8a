// SPDX-License-Identifier: Apache-2.0
#include "plan/diff.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.hpp"
#include "plan/desired.hpp"
#include "support/allowed.hpp"
#include "support/sandbox_world.hpp"

namespace kcg::test {
namespace {

Scenario scenario(HierarchyMode mode, bool systemd = false) {
  Scenario s;
  s.mode = mode;
  s.systemd = systemd;
  s.strangers = 0;
  s.id = "S";
  s.vcpus = 1;
  s.thread_names = true;
  return s;
}

/// One step as "op group-below-the-pod key=value", groups of one hierarchy only.
std::string shorten(const SandboxWorld& world, const Step& step) {
  auto path = step.group.path.str();
  if (path.starts_with(world.pod_group)) path = path.substr(world.pod_group.size());
  auto text = fmt::format("{} {}", name(step.op), path.empty() ? "." : path);
  if (step.task) return text + fmt::format(" {}", name(*step.cls));
  if (step.op == Op::create || step.op == Op::remove || step.op == Op::mark) return text;
  return text + fmt::format(" {}={}", step.key, step.new_value);
}

std::vector<std::string> steps(const SandboxWorld& world, const Plan& plan,
                               std::string_view hierarchy) {
  std::vector<std::string> found;
  for (const auto& step : plan.steps)
    if (step.group.hierarchy == hierarchy) found.push_back(shorten(world, step));
  return found;
}

std::size_t position(const std::vector<std::string>& all, std::string_view head) {
  const auto it = std::find_if(all.begin(), all.end(),
                               [&](const std::string& one) { return one.starts_with(head); });
  return static_cast<std::size_t>(it - all.begin());
}

Scenario with_programs(unsigned count) {
  auto s = scenario(HierarchyMode::v2);
  s.device_programs = count;
  return s;
}

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
  const auto value = std::to_string((std::uint64_t{1} << 30) + (std::uint64_t{350} << 20));
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

TEST(Diff, DeviceProgramsFollowWhatKataChanges) {
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
  EXPECT_EQ(plan.steps[0].device, (DeviceChange{added, kSeveralPrograms, true}));
  EXPECT_EQ(plan.steps[1].device, (DeviceChange{100, kSeveralPrograms, false}));
  EXPECT_EQ(plan.steps[1].old_value, "100");
  (void)world.pass();
  EXPECT_EQ(describe(world.look().plan), "");
}

TEST(Diff, DeviceProgramsStayWhenKatasGroupIsGone) {
  SandboxWorld world(with_programs(1));
  world.boot();
  (void)world.pass();
  world.tree.outside([&](CgroupTree& tree) {
    EXPECT_TRUE(tree.remove({"v2", CgroupPath::parse(world.kata_group).value()}));
  });
  EXPECT_EQ(describe(world.look().plan), "");
}

TEST(Diff, ASingleDeviceProgramIsReplacedNotTakenOff) {
  Observed observed;
  Desired want;
  want.act = true;
  observed.inputs.id = SandboxId::parse("S").value();
  WantedGroup group;
  group.ref = {"v2", CgroupPath::parse("/p/kata-sandbox-S").value()};
  group.devices = {1, {7}, ""};
  want.groups = {group};
  auto& state = observed.groups[group.ref];
  state.ref = group.ref;
  state.mark = "S";
  state.devices = {1, {6}, ""};
  const auto plan = diff(observed, want);
  ASSERT_EQ(plan.steps.size(), 1U) << describe(plan);
  EXPECT_EQ(plan.steps[0].device, (DeviceChange{7, 1, true}));
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
  SandboxWorld world(scenario(HierarchyMode::v1));
  world.boot();
  const auto all = steps(world, world.look().plan, "cpuset");
  const std::vector<std::string> head(all.begin(), all.begin() + 2);
  EXPECT_EQ(head, (std::vector<std::string>{"create /kata-sandbox-S", "mark /kata-sandbox-S"}));
  EXPECT_LT(position(all, "seed /kata-sandbox-S cpuset.cpus=0-3"),
            position(all, "seed /kata-sandbox-S/vcpu cpuset.cpus=0-3"));
  EXPECT_LT(position(all, "seed /kata-sandbox-S/shim cpuset.mems=0"),
            position(all, "move-process /kata-sandbox-S/shim"));
}

TEST(Diff, V1SplitsThreadsInCpuCpuacctAndCpusetOnly) {
  SandboxWorld world(scenario(HierarchyMode::v1));
  world.boot();
  const auto plan = world.look().plan;
  for (const char* h : {"cpu", "cpuacct", "cpuset"})
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
  EXPECT_EQ(plan.steps[0].op, Op::start_scope);
  EXPECT_EQ(plan.steps[0].key, "kata-sandbox-S.scope");
  EXPECT_EQ(plan.steps[0].new_value, "kubepods-burstable-pod1.slice");
  EXPECT_EQ(plan.steps[0].task, world.proc.key(world.vmm)) << "the others follow";
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
  EXPECT_EQ(diff(observed, want).steps.at(0).new_value, "-.slice");
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

// --- drift --------------------------------------------------------------------------------------

class Settled : public testing::Test {
 protected:
  void place(const Scenario& s) {
    world_.emplace(s);
    world_->boot();
    (void)world_->pass();
    (void)world_->pass();
    ASSERT_EQ(world_->misplaced(), "");
    world_->tree.clear_log();
  }
  [[nodiscard]] std::vector<std::string> plan(std::string_view hierarchy = "v2") {
    return steps(*world_, world_->look().plan, hierarchy);
  }
  void outside(const char* hierarchy, const std::string& path, const char* file,
               const std::string& text) {
    world_->tree.outside([&](CgroupTree& tree) {
      const auto done = tree.write({hierarchy, CgroupPath::parse(path).value()}, file, text);
      EXPECT_TRUE(done) << done.error().text;
    });
  }
  [[nodiscard]] std::string at(const char* below) { return world_->pod_group + below; }
  std::optional<SandboxWorld> world_;
};

TEST_F(Settled, OneThreadInTheWrongClass) {
  place(scenario(HierarchyMode::v2));
  outside("v2", at("/kata-sandbox-S/vmm"), "cgroup.threads", std::to_string(world_->vcpus.front()));
  EXPECT_EQ(plan(), (std::vector<std::string>{"move-thread /kata-sandbox-S/vcpu vcpu"}));
}

TEST_F(Settled, TheWholeVmmTakenAway) {
  place(scenario(HierarchyMode::v2));
  outside("v2", world_->kata_group, "cgroup.procs", std::to_string(world_->vmm));
  EXPECT_EQ(plan(),
            (std::vector<std::string>{
                "move-process /kata-sandbox-S/vmm vmm", "move-thread /kata-sandbox-S/vcpu vcpu",
                "move-thread /kata-sandbox-S/io io", "move-thread /kata-sandbox-S/io io"}));
}

TEST_F(Settled, AHotPluggedVcpu) {
  place(scenario(HierarchyMode::v2));
  (void)world_->plug_vcpu();
  const auto all = plan();
  EXPECT_EQ(all, (std::vector<std::string>{"limit /kata-sandbox-S/vcpu cpu.weight=200",
                                           "move-thread /kata-sandbox-S/vcpu vcpu"}));
}

TEST_F(Settled, ALimitThatSomebodyChanged) {
  place(scenario(HierarchyMode::v2));
  outside("v2", at("/kata-sandbox-S/vcpu"), "cpu.max", "max 100000");
  const auto step = world_->look().plan.steps.at(0);
  EXPECT_EQ(describe(step),
            "limit v2:" + at("/kata-sandbox-S/vcpu") + " cpu.max 'max 100000' -> '50000 100000'");
}

TEST_F(Settled, ALimitThatNobodyWantsAnyMore) {
  place(scenario(HierarchyMode::v2));
  world_->scenario.config.sizing.vcpu_quota = false;
  EXPECT_EQ(plan(), (std::vector<std::string>{"limit /kata-sandbox-S/vcpu cpu.max=max 100000"}));
  (void)world_->pass();
  EXPECT_TRUE(plan().empty());
}

TEST_F(Settled, V1LimitsAreLiftedTheSame) {
  auto s = scenario(HierarchyMode::v1);
  s.config.sizing.memory = MemorySizing::always;
  place(s);
  world_->scenario.config.sizing.vcpu_quota = false;
  world_->scenario.config.sizing.memory = MemorySizing::never;
  EXPECT_EQ(plan("cpu"),
            (std::vector<std::string>{"limit /kata-sandbox-S/vcpu cpu.cfs_quota_us=-1"}));
  EXPECT_EQ(plan("memory"),
            (std::vector<std::string>{"limit /kata-sandbox-S memory.limit_in_bytes=-1"}));
  (void)world_->pass();
  EXPECT_EQ(describe(world_->look().plan), "");
}

TEST_F(Settled, MemoryOnlyGrows) {
  auto s = scenario(HierarchyMode::v2);
  s.config.sizing.memory = MemorySizing::always;
  place(s);
  auto& limit = world_->assembled.inputs.containers.front().resources.memory_limit;
  const auto before =
      world_->tree.read({"v2", CgroupPath::parse(at("/kata-sandbox-S")).value()}, "memory.max")
          .value();
  limit = *limit / 2;
  EXPECT_TRUE(plan().empty());
  world_->restart_daemon();
  EXPECT_TRUE(plan().empty()) << "and a restart changes nothing";
  limit = *limit * 4;
  const auto all = world_->look().plan.steps;
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].old_value, before);
  EXPECT_GT(parse_u64(all[0].new_value).value(), parse_u64(before).value());
}

TEST_F(Settled, SwitchingThreadGroupsOff) {
  place(scenario(HierarchyMode::v2));
  world_->scenario.config.placement.thread_groups = false;
  const auto all = plan();
  EXPECT_LT(position(all, "move-process /kata-sandbox-S vmm"), position(all, "remove"));
  (void)world_->pass();
  EXPECT_EQ(world_->misplaced(), "");
  EXPECT_EQ(world_->marked_groups(), (std::vector<std::string>{"v2:" + at("/kata-sandbox-S")}));
}

TEST_F(Settled, ACpusetThatIsTakenAway) {
  place(scenario(HierarchyMode::v2));
  outside("v2", world_->kata_group, "cpuset.cpus", "1-2");
  EXPECT_EQ(plan(), std::vector<std::string>{"seed /kata-sandbox-S cpuset.cpus=1-2"});
  (void)world_->pass();
  outside("v2", world_->kata_group, "cpuset.cpus", "");
  EXPECT_EQ(plan(), std::vector<std::string>{"seed /kata-sandbox-S cpuset.cpus=0-3"})
      << "a group with members cannot be without";
  (void)world_->pass();
  EXPECT_EQ(plan(), std::vector<std::string>{});
}

// --- v1: parents and children -------------------------------------------------------------------

class V1Cpuset : public Settled {
 protected:
  void SetUp() override { place(scenario(HierarchyMode::v1)); }
  void kata_gets(const char* cpus) { outside("cpuset", world_->kata_group, "cpuset.cpus", cpus); }
};

TEST_F(V1Cpuset, NarrowsFromTheChildrenUp) {
  kata_gets("1-2");
  EXPECT_EQ(plan("cpuset"), (std::vector<std::string>{"seed /kata-sandbox-S/vcpu cpuset.cpus=1-2",
                                                      "seed /kata-sandbox-S/io cpuset.cpus=1-2",
                                                      "seed /kata-sandbox-S/vmm cpuset.cpus=1-2",
                                                      "seed /kata-sandbox-S/shim cpuset.cpus=1-2",
                                                      "seed /kata-sandbox-S cpuset.cpus=1-2"}));
  (void)world_->pass();
  EXPECT_TRUE(plan("cpuset").empty());
}

TEST_F(V1Cpuset, WidensFromTheParentDown) {
  kata_gets("1-2");
  (void)world_->pass();
  kata_gets("0-3");
  const auto all = plan("cpuset");
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(all.front(), "seed /kata-sandbox-S cpuset.cpus=0-3");
}

TEST_F(V1Cpuset, MovesElsewhereThroughTheUnion) {
  kata_gets("0-1");
  (void)world_->pass();
  kata_gets("2-3");
  const auto all = plan("cpuset");
  ASSERT_EQ(all.size(), 6U);
  EXPECT_EQ(all.front(), "seed /kata-sandbox-S cpuset.cpus=0-3");
  EXPECT_EQ(all.back(), "seed /kata-sandbox-S cpuset.cpus=2-3");
  const auto pass = world_->pass();
  for (const auto& result : pass.rounds.front().report.results)
    EXPECT_EQ(result.outcome, Outcome::done) << describe(result.step) << ": " << result.text;
}

TEST(Diff, V1QuotasAreLoweredFromTheChildUp) {
  auto s = scenario(HierarchyMode::v1);
  s.pod_less = true;
  SandboxWorld world(s);
  auto& quota = world.assembled.inputs.bundle->resources.cpu_quota;
  quota = 300'000;
  world.boot();
  (void)world.pass();
  for (const std::int64_t next : {100'000, 250'000, 50'000}) {
    quota = next;
    const auto pass = world.pass();
    for (const auto& result : pass.rounds.front().report.results)
      EXPECT_EQ(result.outcome, Outcome::done) << describe(result.step) << ": " << result.text;
    EXPECT_EQ(describe(world.look().plan), "");
  }
}

TEST(Diff, TheLegacyRootIsNotBoundByOnePodsCpus) {
  auto s = scenario(HierarchyMode::v1);
  s.kata_only = false;
  SandboxWorld world(s);
  world.assembled.inputs.containers.front().resources.cpus = std::string("1");
  world.boot();
  world.tree.outside([&](CgroupTree& tree) {
    (void)tree.write({"cpuset", CgroupPath::parse(world.kata_group).value()}, "cpuset.cpus", "2-3");
  });
  (void)world.pass();
  for (const char* path : {"/kata", "/kata/S"})
    EXPECT_EQ(world.tree.read({"cpuset", CgroupPath::parse(path).value()}, "cpuset.cpus").value(),
              "0-3")
        << path;
  EXPECT_EQ(world.tree.read({"cpuset", CgroupPath::parse(world.kata_group).value()}, "cpuset.cpus")
                .value(),
            "2-3")
      << "what Kata made keeps Kata's CPUs";
}

// --- marks --------------------------------------------------------------------------------------

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

// --- removal ------------------------------------------------------------------------------------

TEST_F(Settled, ClassGroupsGoBeforeTheirParent) {
  place(scenario(HierarchyMode::v2));
  world_->end_all();
  EXPECT_EQ(plan(),
            (std::vector<std::string>{"remove /kata-sandbox-S/io", "remove /kata-sandbox-S/shim",
                                      "remove /kata-sandbox-S/vcpu", "remove /kata-sandbox-S/vmm",
                                      "remove /kata-sandbox-S"}));
}

TEST_F(Settled, GroupsThatLostTheirMarkStay) {
  place(scenario(HierarchyMode::v2));
  world_->tree.outside([&](CgroupTree& tree) {
    (void)tree.set_mark({"v2", CgroupPath::parse(at("/kata-sandbox-S/io")).value()}, "other");
  });
  world_->end_all();
  const auto all = plan();
  EXPECT_EQ(std::count(all.begin(), all.end(), "remove /kata-sandbox-S/io"), 0);
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

}  // namespace
}  // namespace kcg::test
