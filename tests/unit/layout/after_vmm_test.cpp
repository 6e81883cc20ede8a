// SPDX-License-Identifier: Apache-2.0
#include "layout/after_vmm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "plan/desired.hpp"
#include "plan/diff.hpp"
#include "support/sandbox_world.hpp"

namespace kcg::test {
namespace {

using Names = std::vector<std::string>;

Scenario scenario(bool own_scope) {
  Scenario s;
  s.systemd = true;
  s.strangers = 0;
  s.virtiofsd = false;
  s.kata_only = !own_scope;
  if (own_scope) s.config.layout.sandbox_cgroup_only = true;
  return s;
}

/// Places the sandbox and ends its VMM.
void outlive(SandboxWorld& world) {
  world.boot();
  (void)world.pass();
  world.end_jobs();
  for (int i = 0; i < 3; ++i) (void)world.pass();
  EXPECT_EQ(world.misplaced(), "");
  world.end_vmm();
}

std::set<std::string_view> operations(const Plan& plan) {
  std::set<std::string_view> found;
  for (const auto& step : plan.steps) found.insert(name(step.operation));
  return found;
}

class AfterVmm : public testing::TestWithParam<bool> {};

TEST_P(AfterVmm, TheShimGetsAnOrdinaryGroup) {
  SandboxWorld world(scenario(GetParam()));
  outlive(world);
  EXPECT_EQ(operations(world.look().plan), (std::set<std::string_view>{"move-process", "remove"}));
  (void)world.pass();
  EXPECT_EQ(world.tree.group_of(world.shim, "v2"), world.expected_sandbox_group());
  EXPECT_EQ(world.marked_groups(), Names{"v2:" + world.expected_sandbox_group()});
  EXPECT_EQ(world.look().plan.steps.size(), 0U);
  EXPECT_EQ(world.misplaced(), "");
}

TEST_P(AfterVmm, NothingIsMadeAgainWhereTheGroupHasGone) {
  SandboxWorld world(scenario(GetParam()));
  outlive(world);
  (void)world.pass();
  world.tree.outside([&](CgroupTree& tree) {
    const GroupRef group{"v2", CgroupPath::parse(world.expected_sandbox_group()).value()};
    EXPECT_TRUE(tree.write({"v2", CgroupPath()}, "cgroup.procs", std::to_string(world.shim)));
    EXPECT_TRUE(tree.remove(group));
  });
  EXPECT_EQ(world.look().plan.steps.size(), 0U);
  EXPECT_TRUE(world.systemd.waiting().empty());
}

TEST_P(AfterVmm, AVmmThatCannotBeReadHasNotEnded) {
  SandboxWorld world(scenario(GetParam()));
  outlive(world);
  const auto plan = [&](const Observed& observed) {
    return diff(observed, desired(world.order().config, observed));
  };
  auto observed = world.observe();
  ASSERT_NE(plan(observed).steps.size(), 0U);
  observed.unread_processes.emplace_back("/proc/7: too many open files");
  EXPECT_EQ(plan(observed).steps.size(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Forms, AfterVmm, testing::Bool(),
                         [](const auto& param) { return param.param ? "own_scope" : "nested"; });

TEST(AfterVmm, ElsewhereItStaysAsItIs) {
  auto s = scenario(false);
  s.systemd = false;
  SandboxWorld world(s);
  outlive(world);
  (void)world.pass();
  EXPECT_EQ(world.misplaced(), "");
  EXPECT_EQ(world.marked_groups().size(), 5U);
}

TEST(AfterVmm, AStartedDaemonThatNeverSawTheVmmWaits) {
  SandboxWorld world(scenario(false));
  outlive(world);
  world.restart_daemon();
  EXPECT_EQ(world.look().plan.steps.size(), 0U);
}

}  // namespace
}  // namespace kcg::test
