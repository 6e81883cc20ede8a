// SPDX-License-Identifier: Apache-2.0
//
// Which groups of a sandbox are looked at, and what of them is read.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "layout/layout.hpp"
#include "observe/sandbox.hpp"
#include "sandbox_scenes.hpp"
#include "support/sandbox_world.hpp"

namespace kcg::test {
namespace {

/// Not what only a top group has: it costs four files of each in every look.
TEST(Observe, OfAClassGroupWeReadWhatItHas) {
  SandboxWorld world(scenario());
  world.boot();
  (void)world.pass();
  ASSERT_FALSE(world.record.found_groups.empty());
  const auto observed = world.observe();
  const auto& hierarchy = observed.host.hierarchies.front().name;
  const auto top = CgroupPath::parse(world.expected_sandbox_group()).value();
  EXPECT_TRUE(observed.groups.at({hierarchy, top}).file("cgroup.subtree_control"));
  for (const auto cls : kThreadClasses) {
    const auto& group = observed.groups.at({hierarchy, class_path(top, cls)});
    EXPECT_TRUE(group.file("cgroup.type"));
    EXPECT_FALSE(group.file("cgroup.subtree_control")) << group.ref.path.str();
  }
}

/// Also where they are taken from what the group above enables.
TEST(Observe, AGroupsControllersAreAsTheKernelTellsThem) {
  SandboxWorld world(scenario());
  world.boot();
  const auto compare = [&](const char* when) {
    const auto observed = world.observe();
    std::size_t compared = 0;
    for (const auto& [ref, group] : observed.groups) {
      if (!group.file("cgroup.type")) continue;
      EXPECT_EQ(group.file("cgroup.controllers"), *world.tree.read(ref, "cgroup.controllers"))
          << when << ": " << ref.path.str();
      ++compared;
    }
    EXPECT_GE(compared, 5U) << when;
    return observed;
  };
  (void)world.pass();  // ignored: judged by what is there
  compare("placed");
  world.assembled.inputs.bundle.reset();
  const auto found = compare("found without a layout");
  const auto top = CgroupPath::parse(world.expected_sandbox_group()).value();
  for (const auto cls : kThreadClasses)
    EXPECT_FALSE(found.groups.at({"v2", class_path(top, cls)}).file("cgroup.subtree_control"));
  EXPECT_TRUE(found.groups.at({"v2", top}).file("cgroup.subtree_control"));
}

/// Nobody tells what becomes of them, so they are as old as the last look, and no older than that
/// may be.
TEST(Observe, WhatStandsAboveThePodIsTakenFromTheLastLookForASecond) {
  SandboxWorld world(scenario(HierarchyMode::v1));
  world.boot();
  (void)world.pass();
  const auto above = path(world.pod_group).parent();
  const auto quota = [&](const CgroupPath& group) {
    world.tree.outside([&](CgroupTree& tree) {
      EXPECT_TRUE(tree.write({"cpu", group}, "cpu.cfs_quota_us", "77000"));
    });
    return *world.observe().group({"cpu", group})->file("cpu.cfs_quota_us");
  };
  auto last = world.observe();
  world.last = &last;
  EXPECT_EQ(quota(above), "-1");
  EXPECT_EQ(quota(path(world.pod_group)), "77000") << "the pod's own is read";
  world.clock.advance(std::chrono::milliseconds(600));
  const auto next = world.observe();
  EXPECT_EQ(next.above_since, last.above_since);
  world.last = &next;
  world.clock.advance(std::chrono::milliseconds(600));
  EXPECT_EQ(quota(above), "77000") << "it was not seen by the look before";
}

/// v1: what we limit below may not be less than what is granted by now.
TEST(Observe, AQuotaThatStandsAboveThePodIsReadEachTime) {
  SandboxWorld world(scenario(HierarchyMode::v1));
  const GroupRef above{"cpu", path(world.pod_group).parent()};
  const auto raise = [&](const char* quota) {
    world.tree.outside(
        [&](CgroupTree& tree) { EXPECT_TRUE(tree.write(above, "cpu.cfs_quota_us", quota)); });
  };
  raise("77000");
  world.boot();
  (void)world.pass();
  const auto last = world.observe();
  world.last = &last;
  raise("99000");
  EXPECT_EQ(world.observe().group(above)->file("cpu.cfs_quota_us"), "99000");
}

TEST(Observe, AQuotaIsReadAlsoOfGroupsThatAreTakenAsSeen) {
  auto limited = scenario(HierarchyMode::v1);
  limited.pod_quota = 40'000;
  SandboxWorld world(limited);
  world.boot();
  (void)world.pass();
  const GroupRef pod{"cpu", path(world.pod_group)};
  const auto last = world.observe();
  world.last = &last;
  world.groups_hold = true;
  world.limit_pod("60000");
  world.tree.outside(
      [&](CgroupTree& tree) { EXPECT_TRUE(tree.write(pod, "cpu.cfs_period_us", "50000")); });
  const auto now = world.pass().rounds.front().observed;
  EXPECT_EQ(now.groups_since, last.groups_since) << "else all is read";
  EXPECT_EQ(now.group(pod)->file("cpu.cfs_quota_us"), "60000");
  EXPECT_EQ(now.group(pod)->file("cpu.cfs_period_us"), "50000");
  world.tree.on_read([] { return EIO; });
  EXPECT_FALSE(world.pass().rounds.front().observed.unread_groups.empty()) << "unknown is unknown";
}

/// v1: whoever is in a group of ours is there in all hierarchies, but for what is done by hand.
TEST(Observe, WhereAnEventAsksOneHierarchyTellsWhoIsInOurs) {
  SandboxWorld world(scenario(HierarchyMode::v1));
  world.boot();
  (void)world.pass();
  (void)put_by_hand(world, {"cpu", path(world.expected_sandbox_group())});
  const auto all = world.observe();
  EXPECT_EQ(all.foreign.size(), 1U) << "a look that reads all asks everywhere";
  world.last = &all;
  EXPECT_TRUE(world.observe().foreign.empty());
  const Pid told = put_by_hand(world, {"memory", path(world.expected_sandbox_group())});
  EXPECT_EQ(foreign(world.observe()), std::vector<Pid>{told}) << "the one that tells";
}

/// The kernel tells that somebody is in a group of v2 in which nobody was.
TEST(Observe, WhoHasComeIntoGroupsThatAreTakenAsSeenIsAskedForWhereThatWasTold) {
  SandboxWorld world(scenario(HierarchyMode::v2));
  world.boot();
  (void)world.pass();
  const auto last = world.observe();
  world.last = &last;
  world.groups_hold = true;
  const auto top = path(world.expected_sandbox_group());
  (void)put_by_hand(world, {"v2", class_path(top, ThreadClass::vmm)});
  world.confirm_after = std::chrono::milliseconds(20);
  EXPECT_TRUE(world.pass().rounds.front().observed.foreign.empty());
  world.around_told = true;
  EXPECT_EQ(world.pass().rounds.front().observed.foreign.size(), 1U);
}

/// Controllers are enabled there, and who was killed in the pod's is told of the look that sees it.
TEST(Observe, ThePodsOwnGroupAndTheRootAreReadEachTime) {
  SandboxWorld world(scenario(HierarchyMode::v2, true));
  world.boot();
  (void)world.pass();
  ASSERT_TRUE(world.nested());
  const GroupRef pod{"v2", path(world.pod_group)}, root{"v2", CgroupPath()};
  auto last = world.observe();
  const auto real = last.groups;
  for (const auto& ref : {pod, root})
    for (auto& [file, text] : last.groups.at(ref).files) text = "before";
  world.last = &last;
  const auto now = world.observe();
  EXPECT_EQ(now.groups.at(pod), real.at(pod));
  EXPECT_EQ(now.groups.at(root), real.at(root));
  EXPECT_EQ(now.above_since, last.above_since) << "else nothing is taken";
}

/// Kata's own group is where legacy would have ours: that it is not ours is seen by its mark.
TEST(Observe, AGroupWhereALayoutThatWasNotChosenWouldHaveOursIsReadOnlyIfMarked) {
  SandboxWorld world(scenario(HierarchyMode::v1));
  world.boot();
  const GroupRef katas{"cpu", CgroupPath::parse(world.kata_group).value()};
  EXPECT_EQ(world.observe().group(katas), nullptr);
  world.tree.outside([&](CgroupTree& tree) { ASSERT_TRUE(tree.set_mark(katas, "S")); });
  ASSERT_NE(world.observe().group(katas), nullptr);
  EXPECT_TRUE(world.observe().group(katas)->file("cpu.shares"));
}

/// Nobody but us makes one of ours: until another layout is chosen one look there is enough.
TEST(Observe, WhereALayoutThatWasNotChosenWouldHaveOursIsLookedAtOnce) {
  SandboxWorld world(scenario(HierarchyMode::v1));
  world.start_shim();
  world.kata_makes_groups();
  EXPECT_EQ(world.observe().only_layout, Layout::sandbox_only);
  (void)world.pass();
  EXPECT_EQ(world.record.only_layout, Layout::sandbox_only);
  const GroupRef katas{"cpu", path(world.kata_group)};
  world.tree.outside([&](CgroupTree& tree) { ASSERT_TRUE(tree.set_mark(katas, "S")); });
  const auto seen = [&] { return world.observe().group(katas) != nullptr; };
  EXPECT_FALSE(seen());
  world.context.creation_recorded = true;
  EXPECT_TRUE(seen()) << "we may have been killed while we made it";
  world.context.creation_recorded = false;
  world.scenario.config.layout.sandbox_cgroup_only = false;
  EXPECT_TRUE(seen()) << "it is chosen now";
  world.scenario.config.layout.sandbox_cgroup_only = true;
  world.restart_daemon();
  EXPECT_TRUE(seen());
  EXPECT_EQ(world.observe().only_layout, std::nullopt) << "there is one of ours";
}

/// What was made by then goes as soon as the other layout makes its own.
TEST(Observe, ALayoutThatChangesBeforeTheVmmStartsLeavesNothingBehind) {
  SandboxWorld world(scenario(HierarchyMode::v1));
  world.start_shim();
  world.kata_makes_groups();
  (void)world.pass();
  ASSERT_FALSE(world.marked_groups().empty());
  world.scenario.config.layout.sandbox_cgroup_only = false;
  (void)world.pass();
  EXPECT_EQ(world.record.only_layout, std::nullopt);
  world.start_vmm();
  world.start_threads();
  (void)world.pass();
  EXPECT_FALSE(world.marked_groups().empty());
  for (const auto& group : world.marked_groups())
    EXPECT_EQ(group.find("/kata-sandbox-"), std::string::npos) << group;
}

TEST(Observe, WhatCannotBeReadIsNoReasonNotToLookThereAgain) {
  SandboxWorld world(scenario(HierarchyMode::v1));
  world.start_shim();
  world.tree.on_read([] { return EIO; });
  EXPECT_EQ(world.observe().only_layout, std::nullopt);
}

TEST(Observe, WhatWasLookedForOnceIsKnownToALookThatReadsNoGroups) {
  SandboxWorld world(scenario(HierarchyMode::v1));
  world.start_shim();
  (void)world.pass();
  const auto last = world.observe();
  world.last = &last;
  world.groups_hold = true;
  EXPECT_EQ(world.pass().last().observed.groups_since, last.groups_since) << "it reads none";
  EXPECT_EQ(world.record.only_layout, Layout::sandbox_only);
}

TEST(Observe, InTheNextLifeItIsLookedAtEverywhereAgain) {
  SandboxWorld world(scenario(HierarchyMode::v1));
  world.start_shim();
  world.kata_makes_groups();
  (void)world.pass();
  ASSERT_TRUE(world.record.only_layout);
  world.start_vmm();
  (void)world.pass();
  ASSERT_TRUE(world.record.fixed);
  EXPECT_EQ(world.record.only_layout, std::nullopt);
}

/// Nobody marks what stands above ours, but for what is Kata's, or was found with a mark.
TEST(Observe, TheMarkOfWhatStandsAboveOursIsAskedForWhereItMayHaveOne) {
  SandboxWorld world(scenario(HierarchyMode::v2, true));
  world.boot();
  (void)world.pass();
  world.end_jobs();
  ASSERT_TRUE(world.nested());
  const GroupRef pod{"v2", path(world.pod_group)}, scope{"v2", path(world.kata_group)};
  for (const auto& group : {pod, scope}) world.tree.set_raw_mark(group, "S /elsewhere");
  EXPECT_EQ(world.observe().group(pod)->mark, std::nullopt);
  EXPECT_EQ(world.observe().group(scope)->mark, "S /elsewhere");
}

TEST(Observe, AMarkThatWasFoundAboveOursIsLookedAtAgain) {
  SandboxWorld world(scenario());
  world.boot();
  const GroupRef pod{"v2", path(world.pod_group)};
  world.tree.set_raw_mark(pod, "S");
  EXPECT_EQ(world.observe().group(pod)->mark, std::nullopt);
  world.record.found_groups.insert_all(std::array{pod});
  EXPECT_EQ(world.observe().group(pod)->mark, "S");
}

struct GroupRow {
  const char* name;
  HierarchyMode mode;
  bool systemd;
  bool kata_only;
};
class ObservedGroups : public testing::TestWithParam<GroupRow> {};

/// What decisions need to be read is read, of whichever form.
TEST_P(ObservedGroups, TellWhatDecisionsNeed) {
  auto s = scenario(GetParam().mode, GetParam().systemd);
  s.kata_only = GetParam().kata_only;
  SandboxWorld world(s);
  world.boot();
  for (const auto& h : world.tree.host().hierarchies) {
    const auto observed = world.observe();
    const auto* pod = observed.group({h.name, path(world.pod_group)});
    ASSERT_NE(pod, nullptr) << h.name.str();
    if (h.unified) {
      EXPECT_EQ(pod->file("cgroup.controllers"), "cpuset cpu io memory pids");
      EXPECT_TRUE(pod->file("cgroup.subtree_control"));
      EXPECT_TRUE(pod->file("cpu.weight"));
      EXPECT_TRUE(pod->file("memory.max"));
    }
    if (!h.unified && h.has("cpuset")) {
      EXPECT_EQ(pod->file("cpuset.cpus"), "0-3");
    }
    if (!h.unified && h.has("cpu")) {
      EXPECT_TRUE(pod->file("cpu.cfs_quota_us"));
    }
    EXPECT_NE(observed.group({h.name, CgroupPath()}), nullptr) << "up to the root";
  }
  const auto first = world.tree.host().unified() ? "v2" : "cpuset";
  EXPECT_NE(world.observe().group({first, path(world.kata_group)}), nullptr);
  (void)world.pass();
  world.end_jobs();
  (void)world.pass();
  const auto after = world.observe();
  for (const auto& group : world.marked_groups()) {
    const auto colon = group.find(':');
    const auto* state = after.group({group.substr(0, colon), path(group.substr(colon + 1))});
    ASSERT_NE(state, nullptr) << group;
    EXPECT_EQ(state->mark, "S");
  }
}

const GroupRow kGroups[] = {{"v2_cgroupfs", HierarchyMode::v2, false, true},
                            {"v2_systemd", HierarchyMode::v2, true, true},
                            {"v2_takes_back", HierarchyMode::v2, false, false},
                            {"v1_cgroupfs", HierarchyMode::v1, false, true},
                            {"v1_systemd", HierarchyMode::v1, true, true},
                            {"v1_legacy", HierarchyMode::v1, false, false},
                            {"v1_legacy_systemd", HierarchyMode::v1, true, false}};
INSTANTIATE_TEST_SUITE_P(Rows, ObservedGroups, testing::ValuesIn(kGroups),
                         [](const auto& row) { return row.param.name; });

TEST(Observe, AQuotasPeriodIsReadWhereThereIsAQuota) {
  SandboxWorld world(scenario(HierarchyMode::v1));
  world.boot();
  const GroupRef pod{"cpu", path(world.pod_group)};
  const auto set = [&](const char* quota) {
    world.tree.outside(
        [&](CgroupTree& tree) { EXPECT_TRUE(tree.write(pod, "cpu.cfs_quota_us", quota)); });
  };
  set("50000");
  EXPECT_EQ(world.observe().group(pod)->file("cpu.cfs_period_us"), "100000");
  const auto above = pod.path.parent();
  EXPECT_FALSE(world.observe().group({"cpu", above})->file("cpu.cfs_period_us"));
  set("-1");
  EXPECT_FALSE(world.observe().group(pod)->file("cpu.cfs_period_us"));
}

}  // namespace
}  // namespace kcg::test
