// SPDX-License-Identifier: Apache-2.0
//
// What is asked of systemd, and what is remembered of its answers.
#include "layout/scope.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <set>

#include "plan/diff.hpp"
#include "record/scope_tries.hpp"
#include "scopes.hpp"

namespace kcg::test {

namespace {

using namespace std::chrono_literals;

TEST_F(Scopes, AJobThatEndsLate) {
  auto pass = world_->pass();
  EXPECT_EQ(pass.rounds.size(), 1U) << "the pass ends with the open job";
  EXPECT_EQ(world_->record.scope->pending,
            (PendingJob{"kata-sandbox-" + world_->scenario.id + ".scope"}));
  for (int i = 0; i < 10; ++i) {
    world_->clock.advance(5s);
    pass = world_->pass();
    EXPECT_TRUE(pass.last().plan.steps.empty());
  }
  EXPECT_EQ(world_->systemd.waiting().size(), 1U) << "asked once";
  world_->end_jobs();
  EXPECT_FALSE(world_->record.scope->pending);
  (void)world_->pass();
  EXPECT_EQ(world_->misplaced(), "");
  EXPECT_EQ(world_->record.state, SandboxState::placed);
  EXPECT_EQ(world_->record.scope->tries, 0U);
}

TEST_F(Scopes, AJobWhoseEndNobodyHeard) {
  (void)world_->pass();
  (void)world_->systemd.finish_jobs();
  (void)world_->pass();
  EXPECT_FALSE(world_->record.scope->pending);
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
  EXPECT_TRUE(world_->record.scope->pending);
  EXPECT_FALSE(said(ConditionName::scope_failed));
  world_->clock.advance(1s);
  (void)world_->pass();
  EXPECT_FALSE(world_->record.scope->pending);
  EXPECT_TRUE(said(ConditionName::scope_failed));
}

/// The member that a scope begins with may just have ended.
TEST_F(Scopes, WhatCannotBeAskedForIsToldWhereItLasts) {
  world_->systemd.fail_calls(ESRCH);
  (void)world_->pass();
  EXPECT_FALSE(said(ConditionName::scope_failed));
  EXPECT_FALSE(world_->record.scope->pending);
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
  EXPECT_TRUE(world_->record.scope->pending);
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
  EXPECT_TRUE(world_->record.scope->pending);
  end_job(world_->record, world_->record.scope->pending->unit, "", world_->clock.now());
  EXPECT_FALSE(world_->record.scope->pending);
}

TEST_F(Scopes, TheSandboxEndsWhileAJobIsOpen) {
  world_->clock.advance(kJobTimeout);
  (void)world_->pass();
  world_->end_all();
  world_->kata_cleans_up();
  for (int i = 0; i < 2; ++i)
    EXPECT_FALSE(world_->pass().follow_up.forget) << "it is waited for as long as before";
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
    if (is<op::Remove>(step)) removed.emplace(step.group.path.str());
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
  world_->record.found_groups.insert_all(std::array{scope});
  (void)world_->pass();
  world_->clock.advance(5s);
  EXPECT_TRUE(world_->pass().follow_up.forget);
  EXPECT_TRUE(world_->marked_groups().empty());
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
