// SPDX-License-Identifier: Apache-2.0
//
// Limits of scopes, which systemd writes.
#include <gtest/gtest.h>

#include <chrono>

#include "scopes.hpp"

namespace kcg::test {

namespace {

using namespace std::chrono_literals;

TEST_F(Scopes, AScopeBeginsWithItsLimits) {
  world_->scenario.config.sizing.memory = MemorySizing::always;
  (void)world_->pass();
  ASSERT_EQ(world_->systemd.waiting().size(), 1U);
  EXPECT_EQ(world_->systemd.waiting()[0].limits, (std::vector<WantedFile>{{"memory.max", kLimit}}))
      << "before anybody is in it";
  EXPECT_FALSE(said(ConditionName::controller_missing)) << "a delegated scope has them all";
  world_->end_jobs();
  (void)world_->pass();
  EXPECT_EQ(memory_max(), kLimit);
  EXPECT_FALSE(world_->systemd.limits_wait());
}

TEST_F(Scopes, LimitsOfAScopeGoThroughSystemd) {
  place();
  world_->scenario.config.sizing.memory = MemorySizing::always;
  const Pid vcpu = world_->plug_vcpu();
  const auto pass = world_->pass();
  EXPECT_EQ(world_->record.scope->pending, (PendingJob{unit(), true}));
  EXPECT_LT(pass.follow_up.retry_at, world_->clock.now() + 1s) << "looks at threads go on";
  EXPECT_EQ(world_->misplaced(), "") << "nothing else waits for them, not even vCPU " << vcpu;
  EXPECT_EQ(world_->record.state, SandboxState::placed);
  for (int i = 0; i < 5; ++i) {
    world_->clock.advance(5s);
    EXPECT_TRUE(world_->pass().last().plan.steps.empty()) << "asked once";
  }
  world_->end_jobs();
  (void)world_->pass();
  EXPECT_EQ(memory_max(), kLimit);
  EXPECT_EQ(world_->record.scope->tries, 0U);
  for (const auto& write : world_->tree.log()) EXPECT_NE(write.file, "memory.max");
}

TEST_F(Scopes, LimitsThatNothingComesOf) {
  place();
  world_->clock.advance(10s);
  (void)world_->pass();  // nothing else is due after that
  world_->scenario.config.sizing.memory = MemorySizing::always;
  auto pass = world_->pass();
  EXPECT_EQ(pass.follow_up.retry_at, world_->clock.now() + 90s);
  world_->lose_jobs();
  pass = world_->pass();
  EXPECT_FALSE(said(ConditionName::scope_failed)) << "it may be about to write them";
  EXPECT_TRUE(pass.last().plan.steps.empty()) << "not again at once";
  EXPECT_EQ(pass.follow_up.retry_at, world_->clock.now() + 1s);
  world_->clock.advance(1s);
  pass = world_->pass();
  EXPECT_TRUE(world_->systemd.limits_wait()) << "asked again";
  EXPECT_FALSE(said(ConditionName::scope_failed)) << "it may be reloading";
  EXPECT_EQ(pass.follow_up.retry_at, world_->clock.now() + 5s);
  world_->clock.advance(5s);
  (void)world_->pass();
  EXPECT_TRUE(said(ConditionName::scope_failed)) << "until it is done";
  world_->end_jobs();
  (void)world_->pass();
  EXPECT_EQ(memory_max(), kLimit);
  EXPECT_FALSE(said(ConditionName::scope_failed));
}

/// systemd makes the directory first, and answers SetUnitProperties before it writes: a look in
/// between sees a scope without its limits, and nothing is wrong.
TEST_F(Scopes, ALookBeforeTheLimitsAreWrittenBlamesNobody) {
  world_->scenario.config.sizing.memory = MemorySizing::always;
  const GroupRef scope{"v2", CgroupPath::parse(world_->expected_sandbox_group()).value()};
  const auto limit = [&](const std::string& value) {
    world_->tree.outside(
        [&](CgroupTree& tree) { EXPECT_TRUE(tree.write(scope, "memory.max", value)); });
  };
  (void)world_->pass();
  (void)world_->systemd.finish_jobs();
  limit("max");
  const auto pass = world_->pass();
  EXPECT_FALSE(said(ConditionName::scope_failed));
  EXPECT_FALSE(world_->systemd.limits_wait()) << "nor is it asked at once";
  EXPECT_LE(pass.follow_up.retry_at, world_->clock.now() + 1s);
  limit(kLimit);
  world_->clock.advance(1s);
  (void)world_->pass();
  EXPECT_FALSE(said(ConditionName::scope_failed));
  EXPECT_EQ(world_->record.scope->tries, 0U);
}

TEST_F(Scopes, WhoeverChangesItsLimitsAgainAndAgainIsContested) {
  place();
  world_->scenario.config.sizing.memory = MemorySizing::always;
  const GroupRef scope{"v2", CgroupPath::parse(world_->expected_sandbox_group()).value()};
  for (int i = 0; i < 8; ++i) {
    (void)world_->pass();
    world_->end_jobs();
    (void)world_->pass();
    world_->tree.outside(
        [&](CgroupTree& tree) { EXPECT_TRUE(tree.write(scope, "memory.max", "4096000")); });
  }
  EXPECT_TRUE(said(ConditionName::contested));
  EXPECT_TRUE(world_->pass().last().plan.steps.empty()) << "not at once";
}

TEST_F(Scopes, TheScopeEndsWhileLimitsAreUnderWay) {
  place();
  world_->scenario.config.sizing.memory = MemorySizing::always;
  (void)world_->pass();
  world_->end_all();
  world_->systemd.collect_empty_scopes();
  world_->kata_cleans_up();
  EXPECT_TRUE(world_->pass().follow_up.forget) << "nobody is left to answer";
}

TEST_F(Scopes, AQuotaThatSystemdRoundsIsNoDrift) {
  world_.emplace([] {
    Scenario s;
    s.systemd = true;
    s.kata_only = false;
    s.pod_less = true;
    s.config.overhead.default_millicpu = 251;
    s.config.layout.sandbox_cgroup_only = true;
    return s;
  }());
  world_->assembled.inputs.bundle->resources.cpu_quota = 12'345;
  world_->assembled.inputs.bundle->resources.cpu_period = 100'000;
  world_->boot();
  place();
  const GroupRef scope{"v2", CgroupPath::parse(world_->expected_sandbox_group()).value()};
  EXPECT_EQ(world_->tree.read(scope, "cpu.max").value(), "38000 100000") << "of 37445";
  EXPECT_TRUE(world_->pass().last().plan.steps.empty());
  EXPECT_FALSE(said(ConditionName::scope_failed));
}

TEST_F(Scopes, OnV1ASandboxWithACpuLimitStartsAndFollows) {
  world_.emplace([] {
    Scenario s;
    s.mode = HierarchyMode::v1;
    s.systemd = true;
    s.kata_only = false;
    s.pod_less = true;
    s.config.layout.sandbox_cgroup_only = true;
    return s;
  }());
  auto& resources = world_->assembled.inputs.bundle->resources;
  resources.cpu_quota = 200'000;
  resources.cpu_period = 100'000;
  world_->boot();
  place();
  const GroupRef scope{"cpu", CgroupPath::parse(world_->expected_sandbox_group()).value()};
  const auto quota = [&] { return world_->tree.read(scope, "cpu.cfs_quota_us").value(); };
  EXPECT_EQ(quota(), "225000");
  EXPECT_EQ(world_->tree.read(scope, "cpu.cfs_period_us").value(), "100000");
  resources.cpu_quota = 100'000;
  place();
  EXPECT_EQ(quota(), "125000");
  world_->tree.outside(
      [&](CgroupTree& tree) { EXPECT_TRUE(tree.write(scope, "cpu.cfs_period_us", "50000")); });
  world_->clock.advance(10s);
  place();
  EXPECT_EQ(world_->tree.read(scope, "cpu.cfs_period_us").value(), "100000");
  EXPECT_TRUE(world_->pass().last().plan.steps.empty());
  EXPECT_FALSE(said(ConditionName::scope_failed));
}

}  // namespace

}  // namespace kcg::test
