// SPDX-License-Identifier: Apache-2.0
#include "offline/release.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "observe/held.hpp"
#include "plan/release.hpp"
#include "support/allowed.hpp"
#include "support/sandbox_world.hpp"

namespace kcg::test {
namespace {

constexpr const char* kId = "c0ffee0123456789";

/// A placed sandbox that is given back.
class Releasing {
 public:
  explicit Releasing(const Scenario& scenario) : world(scenario) {
    world.boot();
    place();
  }
  void place() {
    for (int i = 0; i < 4; ++i) {
      (void)world.pass();  // ignored: misplaced() tells
      world.end_jobs();
    }
  }
  Released release() {
    world.restart_daemon();
    world.tree.clear_log();
    return release_sandbox({world.tree, world.proc, world.clock, world.manager, world.notes},
                           world.order(), world.record, [this] {
                             world.end_jobs();
                             world.systemd.collect_empty_scopes();
                           });
  }
  ReleasePlan plan() {
    world.restart_daemon();
    return release_plan(look_around(world.tree, world.proc, world.observe()));
  }
  /// Where the threads of the sandbox are, but the vCPUs.
  [[nodiscard]] std::set<std::string> places(const std::string& hierarchy,
                                             bool vcpus = false) const {
    std::set<std::string> found;
    for (const auto& [tid, cls] : world.classes)
      if ((cls == ThreadClass::vcpu) == vcpus) found.insert(world.tree.group_of(tid, hierarchy));
    return found;
  }
  SandboxWorld world;
};

Scenario scenario(HierarchyMode mode, bool systemd = false, bool kata_only = true) {
  Scenario s;
  s.mode = mode;
  s.systemd = systemd;
  s.kata_only = kata_only;
  s.config.placement.existing = ExistingPolicy::place;
  s.config.sizing.memory = MemorySizing::always;
  return s;
}

Scenario own_scope(HierarchyMode mode) {
  auto s = scenario(mode, true, false);
  s.config.layout.sandbox_cgroup_only = true;
  return s;
}

Scenario legacy_v2() {
  auto s = scenario(HierarchyMode::v2, false, false);
  s.config.layout.sandbox_cgroup_only = false;
  return s;
}

constexpr const char* kPod = "/kubepods/burstable/pod1";
constexpr const char* kSlice =
    "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice";

struct Row {
  const char* name;
  Scenario scenario;
  std::string hierarchy, place, vcpus;
};

std::vector<Row> rows() {
  const std::string id = kId;
  const auto kata = std::string(kPod) + "/kata_" + id;
  const auto scope = std::string(kSlice) + "/cri-containerd-" + id + ".scope";
  const auto literal = "/kubepods-burstable-pod1.slice:cri-containerd:" + id;
  const auto overhead = "/kata_overhead/" + id;
  const auto ours = std::string(kSlice) + "/kata-sandbox-" + id + ".scope";
  return {
      {"v2, beside Kata's", scenario(HierarchyMode::v2), "v2", kata, kata},
      {"v2, in Kata's scope", scenario(HierarchyMode::v2, true), "v2", scope, scope},
      {"v2, a scope of ours", own_scope(HierarchyMode::v2), "v2", overhead, overhead},
      {"v2, legacy", legacy_v2(), "v2", overhead, overhead},
      {"v1, beside Kata's", scenario(HierarchyMode::v1), "cpu", kata, kata},
      {"v1, whole processes", scenario(HierarchyMode::v1), "memory", kata, kata},
      {"v1, in Kata's scope", scenario(HierarchyMode::v1, true), "cpu", scope, scope},
      {"v1, a scope of ours", own_scope(HierarchyMode::v1), "cpu", ours, ours},
      {"v1, legacy", scenario(HierarchyMode::v1, false, false), "cpu", overhead, kata},
      {"v1, legacy, whole processes", scenario(HierarchyMode::v1, false, false), "memory", overhead,
       overhead},
      {"v1, legacy, systemd", scenario(HierarchyMode::v1, true, false), "cpu", overhead, literal},
  };
}

TEST(Release, EverybodyIsBackAndNothingOfOursIsLeft) {
  for (const auto& row : rows()) {
    SCOPED_TRACE(row.name);
    Releasing one(row.scenario);
    ASSERT_EQ(one.world.misplaced(), "");
    ASSERT_FALSE(one.world.marked_groups().empty());
    const auto released = one.release();
    EXPECT_EQ(released.problems, std::vector<std::string>{});
    EXPECT_EQ(released.processes, 4U);
    EXPECT_EQ(one.places(row.hierarchy), std::set{row.place});
    EXPECT_EQ(one.places(row.hierarchy, true), std::set{row.vcpus});
    EXPECT_EQ(one.world.marked_groups(), std::vector<std::string>{});
    EXPECT_EQ(one.plan(), ReleasePlan{});
    one.place();
    EXPECT_EQ(one.world.misplaced(), "") << "a daemon places it again";
  }
}

std::vector<std::string> words_of(const ReleasePlan& release) {
  std::vector<std::string> all;
  for (const auto& step : release.plan.steps) {
    const std::string word(name(step.operation));
    if (all.empty() || all.back() != word) all.push_back(word);
  }
  return all;
}

TEST(Release, LimitsGoFirstThenControllersThenProcessesThenGroups) {
  Releasing one(scenario(HierarchyMode::v2, true));
  EXPECT_EQ(words_of(one.plan()),
            (std::vector<std::string>{"limit", "disable", "move-process", "remove"}));
  Releasing beside(scenario(HierarchyMode::v2));
  EXPECT_EQ(words_of(beside.plan()), (std::vector<std::string>{"limit", "move-process", "remove"}));
}

TEST(Release, KatasScopeIsAsItWas) {
  Releasing one(scenario(HierarchyMode::v2, true));
  EXPECT_EQ(one.release().problems, std::vector<std::string>{});
  const GroupRef scope{"v2", CgroupPath::parse(one.world.kata_group).value()};
  EXPECT_EQ(one.world.tree.read(scope, "cgroup.subtree_control").value(), "");
}

TEST(Release, GroupsBesideOursInKatasScopeKeepTheirControllers) {
  Releasing one(scenario(HierarchyMode::v2, true));
  one.world.tree.make_all("v2", one.world.kata_group + "/somebodys");
  const auto released = one.release();
  ASSERT_EQ(released.problems.size(), 1U);
  EXPECT_NE(released.problems[0].find("somebodys"), std::string::npos) << released.problems[0];
  EXPECT_EQ(released.steps, 0U);
  EXPECT_EQ(one.world.misplaced(), "") << "it is left as it is";
}

TEST(Release, AGroupOfKatasWithControllersTakesNobody) {
  Releasing one(scenario(HierarchyMode::v2));
  const GroupRef kata{"v2", CgroupPath::parse(one.world.kata_group).value()};
  one.world.tree.outside(
      [&](CgroupTree& tree) { EXPECT_TRUE(tree.write(kata, op::Enable::kFile, "+memory")); });
  const auto released = one.release();
  ASSERT_EQ(released.problems.size(), 1U);
  EXPECT_NE(released.problems[0].find("cannot be given back"), std::string::npos)
      << released.problems[0];
  EXPECT_EQ(released.steps, 0U);
  EXPECT_EQ(one.world.misplaced(), "") << "it is left as it is";
}

TEST(Release, KatasGroupIsMadeAgainWithItsDeviceRules) {
  auto given = scenario(HierarchyMode::v2);
  given.device_programs = 2;
  Releasing one(given);
  const GroupRef kata{"v2", CgroupPath::parse(one.world.kata_group).value()};
  const auto rules = one.world.tree.devices(kata).value();
  ASSERT_EQ(rules.programs.size(), 2U);
  one.world.tree.outside([&](CgroupTree& tree) { EXPECT_TRUE(tree.remove(kata)); });
  EXPECT_EQ(one.release().problems, std::vector<std::string>{});
  EXPECT_EQ(one.places("v2"), std::set{one.world.kata_group});
  EXPECT_EQ(one.world.tree.devices(kata).value(), rules);
  EXPECT_EQ(one.world.tree.mark(kata).value(), std::nullopt) << "it is Kata's";
}

TEST(Release, NobodyLeavesDeviceRulesThatCannotBeSeen) {
  Releasing one(scenario(HierarchyMode::v2));
  const GroupRef kata{"v2", CgroupPath::parse(one.world.kata_group).value()};
  one.world.tree.outside([&](CgroupTree& tree) { EXPECT_TRUE(tree.remove(kata)); });
  one.world.tree.hide_devices(EPERM);
  EXPECT_EQ(one.release().problems.size(), 1U);
  EXPECT_EQ(one.world.misplaced(), "");
}

TEST(Release, OnV1ThePodsGroupTakesThemWhereKataHasNone) {
  Releasing one(scenario(HierarchyMode::v1));
  one.world.tree.outside([&](CgroupTree& tree) {
    for (const auto* h : {"cpu", "memory"})
      EXPECT_TRUE(tree.remove({h, CgroupPath::parse(one.world.kata_group).value()}));
  });
  EXPECT_EQ(one.release().problems, std::vector<std::string>{});
  EXPECT_EQ(one.places("cpu"), std::set<std::string>{kPod});
  EXPECT_EQ(one.places("memory"), std::set<std::string>{kPod});
}

/// A VMM's vhost worker before Linux 6.4: the kernel puts it into its owner's group.
TEST(Release, KernelThreadsGoWithTheirVmm) {
  Releasing one(scenario(HierarchyMode::v2));
  const Pid worker = one.world.proc.start(2, {"vhost-7", "", {}});
  one.world.proc.process(worker).kernel_thread = true;
  one.world.tree.outside([&](CgroupTree& tree) {
    EXPECT_TRUE(
        tree.write({"v2", CgroupPath::parse(one.world.expected_sandbox_group() + "/vmm").value()},
                   "cgroup.procs", std::to_string(worker)));
  });
  EXPECT_EQ(one.release().problems, std::vector<std::string>{});
  EXPECT_EQ(one.world.tree.group_of(worker, "v2"), one.world.kata_group);
}

TEST(Release, AStrangerStaysAndIsNamed) {
  Releasing one(scenario(HierarchyMode::v1));
  const Pid stranger = one.world.proc.start(1, {"bash", "/bin/bash", {"bash"}});
  const GroupRef group{"cpu",
                       CgroupPath::parse(one.world.expected_sandbox_group() + "/vmm").value()};
  one.world.tree.outside([&](CgroupTree& tree) {
    EXPECT_TRUE(tree.write(group, "cgroup.procs", std::to_string(stranger)));
  });
  const auto released = one.release();
  ASSERT_FALSE(released.problems.empty());
  EXPECT_NE(released.problems[0].find(fmt::format("process {}", stranger)), std::string::npos)
      << released.problems[0];
  EXPECT_EQ(one.places("cpu"), std::set{one.world.kata_group}) << "all others are back";
  EXPECT_EQ(one.world.tree.group_of(stranger, "cpu"), group.path.str());
}

TEST(Release, WhatCannotBeReadChangesNothing) {
  Releasing one(scenario(HierarchyMode::v2));
  one.world.restart_daemon();
  auto held = look_around(one.world.tree, one.world.proc, one.world.observe());
  held.observed.unread_groups = {"no more descriptors"};
  const auto release = release_plan(held);
  EXPECT_TRUE(release.plan.steps.empty());
  EXPECT_EQ(release.problems, held.observed.unread_groups);
}

TEST(Release, EmptyGroupsGo) {
  for (const auto mode : {HierarchyMode::v1, HierarchyMode::v2}) {
    Releasing one(scenario(mode));
    one.world.end_all();
    one.world.kata_cleans_up();
    EXPECT_EQ(one.release().problems, std::vector<std::string>{});
    EXPECT_EQ(one.world.marked_groups(), std::vector<std::string>{});
  }
}

TEST(Release, AScopeStaysOursUntilSystemdHasLiftedItsLimits) {
  Releasing one(own_scope(HierarchyMode::v1));
  one.world.manager = nullptr;
  const auto released = one.release();
  ASSERT_FALSE(released.problems.empty());
  EXPECT_NE(released.problems[0].find("systemd"), std::string::npos) << released.problems[0];
  EXPECT_FALSE(one.world.marked_groups().empty());
}

/// Each step fails once: a second release brings it to its end, and nobody was moved astray.
TEST(Release, AnyFailureIsTriedAgain) {
  for (const auto& row : rows()) {
    SCOPED_TRACE(row.name);
    const auto steps = Releasing(row.scenario).plan().plan.steps.size();
    for (std::size_t k = 1; k <= steps; ++k) {
      Releasing one(row.scenario);
      one.world.tree.fail_operation(k, EIO);
      (void)one.release();  // ignored: it may need the second one
      EXPECT_EQ(one.release().problems, std::vector<std::string>{}) << k;
      EXPECT_EQ(one.places(row.hierarchy), std::set{row.place}) << k;
      EXPECT_EQ(one.world.marked_groups(), std::vector<std::string>{}) << k;
    }
  }
}

}  // namespace
}  // namespace kcg::test
