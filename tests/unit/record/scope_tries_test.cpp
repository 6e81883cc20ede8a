// SPDX-License-Identifier: Apache-2.0
//
// What is asked of systemd, and what is remembered of its answers.
#include "layout/scope.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <set>

#include "plan/diff.hpp"
#include "record/scope_tries.hpp"
#include "support/sandbox_world.hpp"

namespace kcg::test {

namespace {

using namespace std::chrono_literals;

class Scopes : public testing::Test {
 protected:
  Scopes() {
    Scenario s;
    s.systemd = true;
    s.kata_only = false;
    s.strangers = 0;
    s.config.layout.sandbox_cgroup_only = true;
    world_.emplace(s);
    world_->boot();
  }
  [[nodiscard]] bool said(ConditionName name) const {
    return std::any_of(world_->record.conditions.begin(), world_->record.conditions.end(),
                       [&](const auto& c) { return c.condition.condition == name; });
  }
  [[nodiscard]] std::string unit() const {
    return "kata-sandbox-" + world_->scenario.id + ".scope";
  }
  [[nodiscard]] std::string slice() const {
    return world_->pod_group.substr(world_->pod_group.rfind('/') + 1);
  }
  [[nodiscard]] std::string memory_max() const {
    const auto path = CgroupPath::parse(world_->expected_sandbox_group()).value();
    return world_->tree.read({"v2", path}, "memory.max").value();
  }
  void place() {
    (void)world_->pass();
    world_->end_jobs();
    (void)world_->pass();
    ASSERT_EQ(world_->misplaced(), "");
  }
  const std::string kLimit = std::to_string((256ULL + 512 + 350) << 20);
  std::optional<SandboxWorld> world_;
};

TEST_F(Scopes, AJobThatEndsLate) {
  auto pass = world_->pass();
  EXPECT_EQ(pass.rounds.size(), 1U) << "the pass ends with the open job";
  EXPECT_EQ(world_->record.scope.pending,
            (PendingJob{"kata-sandbox-" + world_->scenario.id + ".scope"}));
  for (int i = 0; i < 10; ++i) {
    world_->clock.advance(5s);
    pass = world_->pass();
    EXPECT_TRUE(pass.last().plan.steps.empty());
  }
  EXPECT_EQ(world_->systemd.waiting().size(), 1U) << "asked once";
  world_->end_jobs();
  EXPECT_FALSE(world_->record.scope.pending);
  (void)world_->pass();
  EXPECT_EQ(world_->misplaced(), "");
  EXPECT_EQ(world_->record.state, SandboxState::placed);
  EXPECT_EQ(world_->record.scope.tries, 0U);
}

TEST_F(Scopes, AJobWhoseEndNobodyHeard) {
  (void)world_->pass();
  (void)world_->systemd.finish_jobs();
  (void)world_->pass();
  EXPECT_FALSE(world_->record.scope.pending);
  EXPECT_EQ(world_->misplaced(), "");
}

TEST_F(Scopes, AJobThatFailsIsAskedForAgainWithGrowingDelay) {
  Instant delay = 1s;
  for (int i = 0; i < 12; ++i) {
    const auto asked = world_->pass();
    ASSERT_EQ(world_->systemd.waiting().size(), 1U) << i;
    world_->fail_jobs();
    const auto after = world_->pass();
    EXPECT_TRUE(after.last().plan.steps.empty()) << "not at once";
    EXPECT_TRUE(said(ConditionName::scope_failed));
    EXPECT_EQ(after.follow_up.retry_at, world_->clock.now() + delay);
    world_->clock.advance(delay);
    delay = std::min<Instant>(delay * 2, 10min);
  }
  (void)world_->pass();
  world_->end_jobs();
  (void)world_->pass();
  EXPECT_EQ(world_->misplaced(), "");
  EXPECT_FALSE(said(ConditionName::scope_failed));
}

TEST_F(Scopes, AJobThatNeverEnds) {
  auto pass = world_->pass();
  EXPECT_EQ(pass.follow_up.retry_at, world_->clock.now() + 90s);
  world_->clock.advance(89s);
  pass = world_->pass();
  EXPECT_TRUE(world_->record.scope.pending);
  EXPECT_FALSE(said(ConditionName::scope_failed));
  world_->clock.advance(1s);
  (void)world_->pass();
  EXPECT_FALSE(world_->record.scope.pending);
  EXPECT_TRUE(said(ConditionName::scope_failed));
}

/// The member that a scope begins with may just have ended.
TEST_F(Scopes, WhatCannotBeAskedForIsToldWhereItLasts) {
  world_->systemd.fail_calls(ESRCH);
  (void)world_->pass();
  EXPECT_FALSE(said(ConditionName::scope_failed));
  EXPECT_FALSE(world_->record.scope.pending);
  EXPECT_EQ(world_->pass().last().plan.steps.size(), 0U) << "not again at once";
  EXPECT_FALSE(said(ConditionName::scope_failed));
  world_->clock.advance(5s);
  (void)world_->pass();
  ASSERT_TRUE(said(ConditionName::scope_failed));
  EXPECT_EQ(world_->record.conditions[0].condition.text.find("nothing came of it"),
            std::string::npos);
  world_->systemd.fail_calls(0);
  world_->clock.advance(10min);
  (void)world_->pass();
  EXPECT_TRUE(world_->record.scope.pending);
}

TEST_F(Scopes, WithoutSystemd) {
  world_->manager = nullptr;
  const auto since = world_->clock.now();
  auto pass = world_->pass();
  for (; world_->clock.now() < since + 5s; pass = world_->pass()) {
    EXPECT_FALSE(said(ConditionName::scope_failed)) << "it may be executing itself anew";
    ASSERT_LE(pass.follow_up.retry_at, since + 5s);
    world_->clock.advance(*pass.follow_up.retry_at - world_->clock.now());
  }
  EXPECT_TRUE(said(ConditionName::scope_failed));
  EXPECT_TRUE(world_->tree.log().empty());
  world_->manager = &world_->systemd;
  world_->clock.advance(10min);
  place();
  EXPECT_FALSE(said(ConditionName::scope_failed));
}

TEST_F(Scopes, OnlyItsOwnJobEndsTheWait) {
  (void)world_->pass();
  end_job(world_->record, "another.scope", "", world_->clock.now());
  EXPECT_TRUE(world_->record.scope.pending);
  end_job(world_->record, world_->record.scope.pending->unit, "", world_->clock.now());
  EXPECT_FALSE(world_->record.scope.pending);
}

TEST_F(Scopes, TheSandboxEndsWhileAJobIsOpen) {
  (void)world_->pass();
  world_->end_all();
  world_->kata_cleans_up();
  EXPECT_FALSE(world_->pass().follow_up.forget);
  world_->fail_jobs();
  EXPECT_TRUE(world_->pass().follow_up.forget);
}

TEST_F(Scopes, WhatSystemdLeavesOfAnEndedScopeIsRemovedLater) {
  place();
  world_->end_all();
  world_->kata_cleans_up();
  const auto first = world_->pass();
  EXPECT_EQ(world_->marked_groups().size(), 5U) << "systemd would give up if some were gone";
  EXPECT_FALSE(first.follow_up.forget);
  ASSERT_EQ(first.follow_up.retry_at, world_->clock.now() + 5s);
  world_->clock.advance(5s);
  EXPECT_TRUE(world_->pass().follow_up.forget);
  EXPECT_TRUE(world_->marked_groups().empty());
}

TEST_F(Scopes, AScopeIsSystemdsAsLongAsTheSandboxLives) {
  place();
  Desired nothing;
  nothing.act = true;
  std::set<std::string> removed;
  for (const auto& step : diff(world_->observe(), nothing).steps)
    if (is<op::Remove>(step)) removed.insert(step.group.path.str());
  EXPECT_EQ(removed.size(), 4U) << "the groups by class";
  EXPECT_FALSE(removed.contains(world_->expected_sandbox_group()));
}

TEST_F(Scopes, AScopeThatIsLeftFromBeforeARestartIsRemoved) {
  place();
  world_->end_all();
  world_->kata_cleans_up();
  (void)world_->pass();
  const GroupRef scope{"v2", CgroupPath::parse(world_->expected_sandbox_group()).value()};
  world_->restart_daemon();
  world_->record.found_groups.insert(scope);
  (void)world_->pass();
  world_->clock.advance(5s);
  EXPECT_TRUE(world_->pass().follow_up.forget);
  EXPECT_TRUE(world_->marked_groups().empty());
}

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
  EXPECT_EQ(world_->record.scope.pending, (PendingJob{unit(), true}));
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
  EXPECT_EQ(world_->record.scope.tries, 0U);
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
  EXPECT_EQ(world_->record.scope.tries, 0U);
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

TEST_F(Scopes, SystemdsWordsAreTold) {
  (void)world_->pass();
  (void)world_->systemd.fail_jobs();
  end_job(world_->record, unit(), "org.freedesktop.systemd1.UnitExists: already loaded",
          world_->clock.now());
  (void)world_->pass();
  const auto& condition = world_->record.conditions.at(0).condition;
  EXPECT_EQ(condition.condition, ConditionName::scope_failed);
  EXPECT_NE(condition.text.find("UnitExists: already loaded"), std::string::npos);
  EXPECT_NE(condition.text.find(unit()), std::string::npos);
}

TEST_F(Scopes, TheDaemonDiesBetweenTheJobAndTheMark) {
  (void)world_->pass();
  (void)world_->systemd.finish_jobs();
  world_->restart_daemon();
  world_->context.creation_recorded = false;  // the note may be lost: who is in it tells enough
  (void)world_->pass();
  EXPECT_EQ(world_->misplaced(), "");
  EXPECT_EQ(world_->record.state, SandboxState::placed);
  EXPECT_EQ(world_->systemd.waiting().size(), 0U);
}

TEST_F(Scopes, AStrangersScopeOfOurNameIsLeftAlone) {
  world_->tree.add_process(900, {901});
  ASSERT_TRUE(world_->systemd.start_scope({unit(), slice(), {900, 1}, {}}));
  (void)world_->systemd.finish_jobs();
  (void)world_->pass();
  EXPECT_TRUE(said(ConditionName::write_failed));
  EXPECT_EQ(world_->marked_groups(), std::vector<std::string>{});
  EXPECT_TRUE(world_->tree.log().empty());
}

}  // namespace
}  // namespace kcg::test
