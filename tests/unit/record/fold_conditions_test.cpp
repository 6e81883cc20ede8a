// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>

#include "fold_case.hpp"
#include "record/fold.hpp"
#include "record/outcomes.hpp"
#include "record/record.hpp"
#include "support/sandbox_world.hpp"

namespace kcg::test {
namespace {

struct FailureRow {
  const char* name;
  Operation operation;
  int code;
  Names conditions;
};
class Failures : public testing::TestWithParam<FailureRow> {};

TEST_P(Failures, BecomeConditions) {
  Case one;
  one.result(GetParam().operation, Outcome::failed, GetParam().code);
  const bool may_pass = may_be_its_end(one.report.results.front());
  (void)one.fold();
  EXPECT_EQ(one.names(), may_pass ? Names{} : GetParam().conditions) << "judged at the next look";
  (void)one.fold(1, kNow + 1s);
  EXPECT_EQ(one.names(), GetParam().conditions);
  one.report.results.clear();
  (void)one.fold(1, kNow + 2s);
  EXPECT_EQ(one.names(), Names{}) << "the step succeeded";
}

const FailureRow kFailures[] = {
    {"mkdir", op::Create{}, ENOSPC, {write_failed}},
    {"mark", op::Mark{"S"}, EACCES, {write_failed}},
    {"seed", op::Seed{{"cpuset.cpus"}}, EINVAL, {write_failed}},
    {"limit", op::Limit{{"memory.max"}}, EBUSY, {write_failed}},
    {"limit_without_file", op::Limit{{"memory.max"}}, ENOENT, {controller_missing}},
    {"controller", op::Enable{"cpu"}, EBUSY, {controller_missing}},
    {"threaded_mode", op::MakeThreaded{"domain"}, EOPNOTSUPP, {write_failed}},
    {"device", op::Device{}, EPERM, {device_policy_not_carried}},
    {"move", op::MoveProcess{{{21, 3}}}, EACCES, {write_failed}},
    {"task_ended", op::MoveThread{{{21, 3}}}, ESRCH, {}},
    {"group_vanished_before_move", op::MoveThread{{{21, 3}}}, ENODEV, {}},
    {"unborn", op::MoveThread{{{21, 3}}}, EINVAL, {}},
    {"removed_already", op::Remove{}, ENOENT, {}},
    {"removed_meanwhile", op::Remove{}, ENODEV, {}},
    {"busy", op::Remove{}, EBUSY, {}},
    {"not_removable", op::Remove{}, EPERM, {write_failed}},
};
INSTANTIATE_TEST_SUITE_P(Fold, Failures, testing::ValuesIn(kFailures),
                         [](const auto& row) { return row.param.name; });

TEST(Fold, WhatFailsAtTheEndIsNotTold) {
  Case one;
  one.result(op::Limit{{"cpu.max"}}, Outcome::failed, ENODEV);
  EXPECT_EQ(one.fold().follow_up.retry_at, kNow + 500ms);
  EXPECT_EQ(one.names(), Names{});
  one.report.results.clear();
  one.observed.gone = true;
  (void)one.fold(1, kNow + 500ms);
  EXPECT_EQ(one.names(), Names{});
  one.observed.gone = false;
  one.result(op::Limit{{"cpu.max"}}, Outcome::failed, ENODEV);
  (void)one.fold(1, kNow + 1s);
  EXPECT_EQ(one.names(), Names{}) << "another failure, not the same one for a second";
}

TEST(Fold, FailuresOfOnePassAreOneLook) {
  Case one;
  one.result(op::Limit{{"memory.max"}}, Outcome::failed, EBUSY);
  one.result(op::MoveThread{{{21, 3}}}, Outcome::done);
  for (unsigned round = 1; round <= 4; ++round) (void)one.fold(round);
  EXPECT_TRUE(one.record.failures->since.empty());
}

TEST(Fold, AStrangerIsWaitedForAsLongAsTheSandboxLives) {
  Case one;
  one.observed.foreign.resize(1);
  EXPECT_EQ(one.fold().follow_up.look_at, kNow + 500ms);
  EXPECT_EQ(one.fold(1, kNow + 4s).follow_up.look_at, kNow + 8s);
  one.observed.gone = true;
  EXPECT_FALSE(one.fold(1, kNow + 8s).record.unrest->strangers_since);
}

TEST(Fold, ThreadsUnclassifiedHasToLast) {
  Case one;
  one.want.conditions = {{threads_unclassified, "VMM 20 shows no vCPU thread"}};
  (void)one.fold();
  EXPECT_EQ(one.names(), Names{}) << "its vCPU ends first";
  auto& thread = one.observed.processes[1].threads[0];
  thread.cls = ThreadClass::vmm;
  EXPECT_EQ(one.fold(1, kNow).follow_up.retry_at, kNow + 5s);
  (void)one.fold(1, kNow + 4s);
  EXPECT_EQ(one.names(), Names{});
  (void)one.fold(1, kNow + 5s);
  EXPECT_EQ(one.names(), Names{threads_unclassified});
  thread.cls = ThreadClass::vcpu;
  (void)one.fold(1, kNow + 6s);
  EXPECT_EQ(one.names(), Names{});
}

TEST(Fold, OneLookKnowsOfNoGrace) {
  Case one;
  one.record = one_look();
  one.want.conditions = {{threads_unclassified, "VMM 20 shows no vCPU thread"}};
  one.observed.processes[1].threads[0].cls = ThreadClass::vmm;
  (void)one.fold();
  EXPECT_EQ(one.names(), Names{threads_unclassified});
}

TEST(Fold, SkippedStepsAreNoFailure) {
  Case one;
  one.result(op::Limit{{"memory.max"}}, Outcome::skipped);
  (void)one.fold();
  EXPECT_EQ(one.names(), Names{});
  EXPECT_EQ(one.record.state, SandboxState::placed);
}

TEST(Fold, AStrangerIsSaidUntilSomebodyAcknowledges) {
  Case one;
  one.result(op::MoveProcess{{{21, 3}}}, Outcome::failed).stranger = true;
  (void)one.fold();
  one.report.results.clear();
  (void)one.fold();
  EXPECT_EQ(one.names(), Names{stranger_moved});
  EXPECT_EQ(one.record.state, SandboxState::degraded);
}

TEST(Fold, ConditionsKeepTheirFirstTime) {
  Case one;
  one.want.conditions = {{parent_undersized, "have 1"}};
  (void)one.fold(1, kNow);
  const auto since = one.record.conditions.at(0).since;
  one.want.conditions = {{parent_undersized, "have 2"}};
  (void)one.fold(1, kNow + 60s);
  EXPECT_EQ(one.record.conditions.at(0).condition.text, "have 2");
  EXPECT_EQ(one.record.conditions.at(0).since, since);
  one.want.conditions.clear();
  (void)one.fold(1, kNow + 61s);
  one.want.conditions = {{parent_undersized, "have 2"}};
  (void)one.fold(1, kNow + 62s);
  EXPECT_EQ(one.record.conditions.at(0).since, since + 62);
}

TEST(Fold, TheSameConditionIsSaidOnce) {
  Case one;
  one.want.conditions = {{foreign_process, "a"}, {foreign_process, "a"}, {foreign_process, "b"}};
  (void)one.fold();
  EXPECT_EQ(one.record.conditions.size(), 2U);
}

TEST(Fold, OomKillsStayUntilTheEnd) {
  Case one;
  one.want.conditions = {{oom_killed, "1"}};
  (void)one.fold();
  one.want.conditions.clear();
  (void)one.fold();
  EXPECT_EQ(one.names(), Names{oom_killed});
  one.observed.gone = true;
  (void)one.fold();
  EXPECT_EQ(one.names(), Names{oom_killed}) << "it is still shown";
  one.observed.gone = false;
  (void)one.fold();
  EXPECT_EQ(one.names(), Names{}) << "Docker has started it again";
}

}  // namespace
}  // namespace kcg::test
