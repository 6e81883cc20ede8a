// SPDX-License-Identifier: Apache-2.0
#include "show/view.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.hpp"
#include "support/sandbox_world.hpp"

namespace kcg::test {
namespace {

Scenario scenario(HierarchyMode mode = HierarchyMode::v2) {
  Scenario s;
  s.mode = mode;
  s.strangers = 0;
  return s;
}

SandboxView view_of(SandboxWorld& world) {
  const auto round = world.look();
  auto view = make_view(round.observed, round.want, round.plan, standing_of(world.record));
  view.threads = thread_views(round.observed, round.want);
  return view;
}

const ThreadView& thread(const SandboxView& view, Pid tid) {
  return *std::find_if(view.threads.begin(), view.threads.end(),
                       [tid](const ThreadView& one) { return one.tid == tid; });
}

const GroupView& group(const SandboxView& view, GroupRole role) {
  return *std::find_if(view.groups.begin(), view.groups.end(),
                       [role](const GroupView& one) { return one.role == role; });
}

TEST(View, OfAPlacedSandbox) {
  auto s = scenario();
  s.config.sizing.memory = MemorySizing::always;
  SandboxWorld world(s);
  world.boot();
  (void)world.pass();
  const auto top = world.expected_sandbox_group();
  world.tree.set_file({"v2", CgroupPath::parse(top).value()}, "memory.current", "12345");
  const auto view = view_of(world);
  EXPECT_EQ(view.id, s.id);
  EXPECT_EQ(view.pod_namespace, "default");
  EXPECT_EQ(view.pod_name, "web");
  EXPECT_EQ(view.pod_uid, "1234");
  EXPECT_EQ(view.engine, Engine::containerd);
  EXPECT_EQ(view.state, SandboxState::placed);
  EXPECT_EQ(view.pod_cgroup, world.pod_group);
  EXPECT_EQ(view.sandbox_cgroup, top);
  EXPECT_EQ(view.overhead_cgroup, "");
  EXPECT_EQ(view.hypervisor, Hypervisor::qemu);
  EXPECT_EQ(view.shim_pid, world.shim);
  EXPECT_EQ(view.vmm_pid, world.vmm);
  EXPECT_EQ(view.vcpus, 2U);
  EXPECT_EQ(view.memory_used, 12345U);
  EXPECT_EQ(view.memory_limit, (256ULL + 512 + 350) << 20);
  EXPECT_GT(view.created, 0);
  EXPECT_EQ(view.containers.size(), 1U);
  EXPECT_EQ(view.threads.size(), world.classes.size());
  EXPECT_FALSE(view.failing());
  for (const auto& one : view.threads) {
    EXPECT_TRUE(one.placed) << one.tid;
    EXPECT_EQ(one.group_now, one.group_wanted);
    EXPECT_EQ(one.cls, world.expected_class(one.tid));
  }
  for (const auto& one : view.groups) {
    EXPECT_TRUE(one.exists);
    EXPECT_TRUE(one.wanted.empty()) << one.path;
  }
  EXPECT_EQ(group(view, GroupRole::vcpu).limits.at("cpu.weight"), "200");
}

TEST(View, WhatThePodAsAWholeIsAllowed) {
  for (const auto mode : {HierarchyMode::v1, HierarchyMode::v2}) {
    SandboxWorld world(scenario(mode));
    world.boot();
    (void)world.pass();
    const bool unified = mode == HierarchyMode::v2;
    const auto* const file = unified ? "cpu.max" : "cpu.cfs_quota_us";
    const auto* const value = unified ? "125000 100000" : "125000";
    const GroupRef pod{unified ? "v2" : "cpu", CgroupPath::parse(world.pod_group).value()};
    world.tree.set_file(pod, file, value);
    EXPECT_EQ(view_of(world).pod_limits[file], value);
  }
}

TEST(View, AThreadInTheWrongPlace) {
  SandboxWorld world(scenario());
  world.boot();
  (void)world.pass();
  const auto vmm_group = world.expected_sandbox_group() + "/vmm";
  world.tree.outside([&](CgroupTree& tree) {
    (void)tree.write({"v2", CgroupPath::parse(vmm_group).value()}, "cgroup.threads",
                     std::to_string(world.vcpus[0]));
  });
  const auto view = view_of(world);
  const auto& one = thread(view, world.vcpus[0]);
  EXPECT_FALSE(one.placed);
  EXPECT_EQ(one.group_now, vmm_group);
  EXPECT_EQ(one.group_wanted, world.expected_sandbox_group() + "/vcpu");
}

TEST(View, V1ThreadsArePlacedOnlyInEveryHierarchy) {
  SandboxWorld world(scenario(HierarchyMode::v1));
  world.boot();
  (void)world.pass();
  EXPECT_TRUE(thread(view_of(world), world.vmm).placed);
  world.tree.outside([&](CgroupTree& tree) {
    (void)tree.write({"memory", CgroupPath()}, "tasks", std::to_string(world.vmm));
  });
  EXPECT_FALSE(thread(view_of(world), world.vmm).placed);
}

TEST(View, V1GroupsOfOnePathAreOneGroup) {
  SandboxWorld world(scenario(HierarchyMode::v1));
  world.boot();
  (void)world.pass();
  const auto view = view_of(world);
  EXPECT_EQ(view.groups.size(), 5U);
  EXPECT_EQ(group(view, GroupRole::sandbox).hierarchies.size(), 5U) << "cpuset is Kata's";
  EXPECT_EQ(group(view, GroupRole::vcpu).hierarchies, (std::vector<std::string>{"cpu", "cpuacct"}));
  EXPECT_FALSE(view.memory_limit) << "v1's largest number is no limit";
}

TEST(View, AGroupThatIsMissingInOneHierarchyIsMissing) {
  SandboxWorld world(scenario(HierarchyMode::v1));
  world.boot();
  (void)world.pass();
  EXPECT_TRUE(group(view_of(world), GroupRole::sandbox).exists);
  const auto top = CgroupPath::parse(world.expected_sandbox_group()).value();
  world.tree.outside([&](CgroupTree& tree) {
    const GroupRef middle{"memory", top};
    const auto tasks = tree.read(middle, "cgroup.procs").value();
    for (const auto pid : words(tasks))
      EXPECT_TRUE(tree.write({"memory", {}}, "cgroup.procs", pid));
    EXPECT_TRUE(tree.remove(middle));
  });
  EXPECT_FALSE(group(view_of(world), GroupRole::sandbox).exists);
}

TEST(View, WhatIsToBeWritten) {
  SandboxWorld world(scenario());
  world.boot();
  const auto view = view_of(world);
  EXPECT_FALSE(group(view, GroupRole::vcpu).exists);
  EXPECT_EQ(group(view, GroupRole::vcpu).wanted.at("cpu.max"), "50000 100000");
  EXPECT_EQ(view.state, SandboxState::discovered);
}

TEST(View, OfLegacyOnV1) {
  auto s = scenario(HierarchyMode::v1);
  s.kata_only = false;
  SandboxWorld world(s);
  world.boot();
  (void)world.pass();
  const auto view = view_of(world);
  EXPECT_EQ(view.layout, Layout::legacy);
  EXPECT_EQ(view.layout_source, LayoutSource::kata_state);
  EXPECT_EQ(view.sandbox_cgroup, world.kata_group);
  EXPECT_EQ(view.overhead_cgroup, "/kata/" + s.id);
  for (const auto& one : view.groups) EXPECT_NE(one.path, "/kata") << "everybody's";
}

TEST(View, Unmanaged) {
  SandboxWorld world(scenario());
  world.boot();
  world.context.managed_since = world.proc.key(world.vmm).start + 1;
  (void)world.pass();
  const auto view = view_of(world);
  EXPECT_EQ(view.state, SandboxState::unmanaged);
  EXPECT_FALSE(thread(view, world.vmm).placed);
  EXPECT_EQ(thread(view, world.vmm).group_wanted, "") << "nothing is wanted of it";
}

TEST(View, ConditionsWithTheirTime) {
  SandboxWorld world(scenario());
  world.boot();
  world.record.conditions = {{{ConditionName::oom_killed, "text"}, 17}};
  const auto view = view_of(world);
  ASSERT_EQ(view.conditions.size(), 1U);
  EXPECT_EQ(view.conditions[0].since, 17);
  EXPECT_TRUE(view.failing());
  world.record.conditions = {{{ConditionName::quota_clamped, "text"}, 17}};
  EXPECT_FALSE(view_of(world).failing()) << "an information is no failure";
  world.record.conditions = {{{ConditionName::parent_undersized, "text", Severity::info}, 17}};
  EXPECT_FALSE(view_of(world).failing()) << "how bad it is depends on the case";
}

TEST(View, ARegistrationNamesThePod) {
  SandboxWorld world(scenario());
  world.boot();
  auto& registration = world.assembled.inputs.registration.emplace();
  registration.pod = {"ns2", "", "uid2"};
  registration.handler = "kata-remote";
  const auto view = view_of(world);
  EXPECT_EQ(view.pod_namespace, "ns2");
  EXPECT_EQ(view.pod_name, "web") << "what it does not say stays";
  EXPECT_EQ(view.pod_uid, "uid2");
  EXPECT_EQ(view.handler, "kata-remote");
}

TEST(View, KatasStateUpdatesAContainer) {
  SandboxWorld world(scenario());
  world.boot();
  Resources updated;
  updated.memory_limit = 1 << 30;
  world.assembled.inputs.kata->containers["container0"] = updated;
  const auto view = view_of(world);
  EXPECT_EQ(view.containers.at(0).resources, updated);
  EXPECT_EQ(view.containers[0].source, ResourceSource::kata_state);
}

TEST(View, OfAnIgnoredBundle) {
  Assembled assembled;
  assembled.inputs.id = SandboxId::parse("S").value();
  EXPECT_NE(ignored_view(assembled).ignored.find("no proof"), std::string::npos);
  Bundle loser;
  loser.id = "S";
  loser.pod.name = "other";
  assembled.ignored = {{loser, "the id is also in use elsewhere"}};
  EXPECT_EQ(ignored_view(assembled).ignored, "the id is also in use elsewhere");
  const auto losers = ignored_bundles(assembled);
  ASSERT_EQ(losers.size(), 1U);
  EXPECT_EQ(losers[0].id, "S");
  EXPECT_EQ(losers[0].pod_name, "other");
  EXPECT_EQ(losers[0].ignored, "the id is also in use elsewhere");
  assembled.conditions = {{ConditionName::bundle_unreadable, "does not parse"}};
  EXPECT_EQ(ignored_view(assembled).ignored, "does not parse");
  EXPECT_EQ(ignored_view(assembled).id, "S");
}

}  // namespace
}  // namespace kcg::test
