// SPDX-License-Identifier: Apache-2.0
#include "plan/warm.hpp"

#include <gtest/gtest.h>

#include "apply/apply.hpp"
#include "support/sandbox_world.hpp"

namespace kcg {
namespace {

using test::SandboxWorld;
using test::Scenario;

Plan warm(SandboxWorld& world, std::uint64_t age_ms = 20) {
  auto round = world.look();
  round.observed.vmm_age_ms = age_ms;
  return warm_up(round.observed, round.want);
}

Scenario on(HierarchyMode mode) {
  Scenario scenario;
  scenario.mode = mode;
  return scenario;
}

/// A VMM in its place that has not started its threads.
void start_vmm(SandboxWorld& world) {
  world.start_shim();
  world.kata_makes_groups();
  world.start_vmm();
  (void)world.pass();
}

TEST(WarmUp, TheMainThreadOfAYoungVmmGoesWhereItIs) {
  for (const auto mode : {HierarchyMode::v1, HierarchyMode::v2}) {
    SandboxWorld world(on(mode));
    start_vmm(world);
    const auto plan = warm(world);
    ASSERT_EQ(plan.steps.size(), 1U);
    const auto& step = plan.steps.front();
    const auto* move = as<op::MoveThread>(step);
    ASSERT_NE(move, nullptr) << name(step.operation);
    EXPECT_EQ(move->task.pid, world.vmm);
    EXPECT_EQ(step.group.path.str(), world.expected_sandbox_group() + "/vmm");
    EXPECT_EQ(move->from, step.group.path.str());
    EXPECT_EQ(file_of(*move), mode == HierarchyMode::v2 ? "cgroup.threads" : "tasks");
    const auto report = apply(plan, world.tree, world.proc, nullptr);
    EXPECT_EQ(report.done(), 1U) << report.results.front().text;
    EXPECT_TRUE(world.look().plan.steps.empty()) << "it changes nothing";
  }
}

TEST(WarmUp, NotOnceAVcpuIsSeen) {
  SandboxWorld world(on(HierarchyMode::v2));
  start_vmm(world);
  world.start_threads();
  EXPECT_TRUE(warm(world).steps.empty());
}

TEST(WarmUp, NotForAVmmThatHasNoneForLong) {
  SandboxWorld world(on(HierarchyMode::v2));
  start_vmm(world);
  EXPECT_FALSE(warm(world, 500).steps.empty());
  EXPECT_TRUE(warm(world, 501).steps.empty());
}

TEST(WarmUp, NotWhereThreadsStayTogether) {
  auto scenario = on(HierarchyMode::v2);
  scenario.config.placement.thread_groups = false;
  SandboxWorld world(scenario);
  start_vmm(world);
  EXPECT_TRUE(warm(world).steps.empty());
}

TEST(WarmUp, NotBeforeItIsInItsPlace) {
  SandboxWorld world(on(HierarchyMode::v2));
  EXPECT_TRUE(warm(world).steps.empty()) << "nothing runs";
  world.start_shim();
  world.kata_makes_groups();
  world.start_vmm();
  EXPECT_TRUE(warm(world).steps.empty());
}

}  // namespace
}  // namespace kcg
