// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.hpp"
#include "diff_steps.hpp"
#include "plan/desired.hpp"
#include "plan/diff.hpp"
#include "support/allowed.hpp"
#include "support/sandbox_world.hpp"

namespace kcg::test {
namespace {

// --- drift --------------------------------------------------------------------------------------

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
  EXPECT_EQ(text_of(all[0]).old_value, before);
  EXPECT_GT(parse_u64(text_of(all[0]).new_value).value(), parse_u64(before).value());
}

/// A guess would stay for the whole life of a VM that boots with less.
TEST(Diff, MemoryIsLimitedWhenTheVmmTellsWhatItBootsWith) {
  auto s = scenario(HierarchyMode::v2);
  s.config.sizing.memory = MemorySizing::always;
  SandboxWorld world(s);
  world.start_shim();
  (void)world.pass();
  const GroupRef ours{"v2", CgroupPath::parse(world.expected_sandbox_group()).value()};
  EXPECT_EQ(world.tree.read(ours, "memory.max").value(), "max");
  world.start_vmm();
  const auto plan = describe(world.look().plan);
  const auto limit =
      plan.find("memory.max 'max' -> '" + std::to_string((256ULL + 512 + 350) << 20));
  EXPECT_LT(limit, plan.find("move-process")) << "before it is in there:\n" << plan;
}

/// What the VM boots with is learned from its command line; before, something larger was assumed.
TEST_F(Settled, ASmallerBootMemoryTightensNothing) {
  auto s = scenario(HierarchyMode::v2);
  s.config.sizing.memory = MemorySizing::always;
  place(s);
  const GroupRef ours{"v2", CgroupPath::parse(at("/kata-sandbox-S")).value()};
  world_->tree.set_file(ours, "memory.max", std::to_string((2048ULL + 512 + 350) << 20));
  EXPECT_TRUE(plan().empty());
  world_->restart_daemon();
  EXPECT_TRUE(plan().empty());
}

TEST_F(Settled, ALargerPodLimitIsFollowed) {
  auto s = scenario(HierarchyMode::v2);
  s.config.sizing.memory = MemorySizing::always;
  place(s);
  const GroupRef pod{"v2", CgroupPath::parse(world_->pod_group).value()};
  world_->tree.set_file(pod, "memory.max", std::to_string(8192ULL << 20));
  const auto all = world_->look().plan.steps;
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(text_of(all[0]).new_value, std::to_string(8192ULL << 20));
  (void)world_->pass();
  world_->tree.set_file(pod, "memory.max", std::to_string(4096ULL << 20));
  EXPECT_TRUE(plan().empty()) << "it only grows";
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

// --- removal ------------------------------------------------------------------------------------

TEST_F(Settled, ClassGroupsGoBeforeTheirParent) {
  place(scenario(HierarchyMode::v2));
  world_->end_all();
  EXPECT_EQ(plan(),
            (std::vector<std::string>{"remove /kata-sandbox-S/vmm", "remove /kata-sandbox-S/vcpu",
                                      "remove /kata-sandbox-S/shim", "remove /kata-sandbox-S/io",
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

}  // namespace
}  // namespace kcg::test
