// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "plan/record.hpp"
#include "support/sandbox_world.hpp"

namespace kcg::test {
namespace {

using namespace std::chrono_literals;

constexpr Instant kNow = 100s;
constexpr std::int64_t kWall = 1'700'000'000;

/// Inputs of fold() for a sandbox that is well.
struct Case {
  Case() {
    observed.host = fake_host_v2();
    observed.inputs.id = SandboxId::parse("S").value();
    observed.proven_kata = true;
    Process shim;
    shim.role = ProcessRole::shim;
    shim.facts.key = {10, 1};
    Process vmm;
    vmm.role = ProcessRole::vmm;
    vmm.facts.key = {20, 2};
    vmm.hypervisor = Hypervisor::qemu;
    Thread vcpu;
    vcpu.facts.key = {21, 3};
    vcpu.cls = ThreadClass::vcpu;
    vcpu.by = ClassSource::kvm;
    vmm.threads = {vcpu};
    observed.processes = {shim, vmm};
    want.act = true;
  }
  Folded fold(unsigned round = 1, Instant now = kNow) {
    auto folded = kcg::fold(record, observed, want, report, round, now,
                            kWall + std::chrono::duration_cast<std::chrono::seconds>(now).count());
    record = folded.record;
    return folded;
  }
  StepResult& result(Op op, Outcome outcome, int code = 0) {
    StepResult one;
    one.step.op = op;
    one.step.group = {"v2", CgroupPath::parse("/p/kata-sandbox-S").value()};
    one.outcome = outcome;
    one.code = code;
    one.text = "text";
    if (op == Op::move_process || op == Op::move_thread) one.step.task = TaskKey{21, 3};
    return report.results.emplace_back(std::move(one));
  }
  [[nodiscard]] std::vector<ConditionName> names() const {
    std::vector<ConditionName> found;
    for (const auto& active : record.conditions) found.push_back(active.condition.condition);
    return found;
  }
  Observed observed;
  Desired want;
  Report report;
  Record record;
};
using Names = std::vector<ConditionName>;

// --- state --------------------------------------------------------------------------------------

TEST(Fold, States) {
  Case one;
  one.want.act = false;
  EXPECT_EQ(one.fold().record.state, SandboxState::discovered);
  one.want.act = true;
  EXPECT_EQ(one.fold().record.state, SandboxState::placed);
  one.want.conditions = {{ConditionName::quota_clamped, "info only"}};
  EXPECT_EQ(one.fold().record.state, SandboxState::placed);
  one.want.conditions = {{ConditionName::parent_undersized, "error"}};
  EXPECT_EQ(one.fold().record.state, SandboxState::degraded);
  one.observed.unmanaged = true;
  EXPECT_EQ(one.fold().record.state, SandboxState::unmanaged);
  one.observed.gone = true;
  EXPECT_EQ(one.fold().record.state, SandboxState::removing);
}

TEST(Fold, AFailedFirstPassIsNotPlaced) {
  Case one;
  one.result(Op::create, Outcome::failed, ENOSPC);
  EXPECT_EQ(one.fold().record.state, SandboxState::degraded);
  EXPECT_FALSE(one.record.placed_once);
  one.report.results.clear();
  EXPECT_EQ(one.fold().record.state, SandboxState::placed);
}

TEST(Fold, TheLayoutIsFixedByTheFirstActThatSeesTheVmm) {
  Case one;
  one.want.form = Form::nested;
  one.want.layout_source = LayoutSource::config;
  const auto vmm = one.observed.processes.back();
  one.observed.processes.pop_back();
  EXPECT_FALSE(one.fold().record.fixed);
  EXPECT_TRUE(one.record.watched);
  one.observed.processes.push_back(vmm);
  EXPECT_EQ(one.fold().record.fixed,
            (FixedLayout{Layout::sandbox_only, LayoutSource::config, Form::nested}));
  one.want.form = Form::own_scope;
  EXPECT_EQ(one.fold().record.fixed->form, Form::nested);
  one.observed.gone = true;
  EXPECT_FALSE(one.fold().record.fixed) << "the id may be used again";
  EXPECT_FALSE(one.record.watched);
}

TEST(Fold, NothingIsFixedWhileNothingIsDone) {
  Case one;
  one.want.act = false;
  EXPECT_FALSE(one.fold().record.fixed);
}

TEST(Fold, ProcessesAndMarkedGroupsAreRemembered) {
  Case one;
  GroupState state;
  state.ref = {"v2", CgroupPath::parse("/p/kata-sandbox-S").value()};
  state.mark = "S";
  one.observed.groups[state.ref] = state;
  state.ref.path = CgroupPath::parse("/p").value();
  state.mark.reset();
  one.observed.groups[state.ref] = state;
  const auto record = one.fold().record;
  ASSERT_EQ(record.trusted.size(), 2U);
  EXPECT_EQ(record.trusted.begin()->key, (TaskKey{10, 1}));
  ASSERT_EQ(record.found_groups.size(), 1U);
  EXPECT_EQ(record.found_groups.begin()->path.str(), "/p/kata-sandbox-S");
}

TEST(Fold, AShimWaitsForItsBundle) {
  Case one;
  one.record.shim_candidates = {10};
  EXPECT_EQ(one.fold().record.shim_candidates, std::set<Pid>{10});
  one.observed.inputs.bundle.emplace();
  EXPECT_TRUE(one.fold().record.shim_candidates.empty()) << "it was looked at";
  one.record.shim_candidates = {10};
  one.observed.inputs.bundle.reset();
  one.observed.gone = true;
  EXPECT_TRUE(one.fold().record.shim_candidates.empty());
}

// --- what comes next ----------------------------------------------------------------------------

TEST(Fold, AnotherRoundAfterWorkUntilTheFifth) {
  Case one;
  EXPECT_FALSE(one.fold().follow_up.again);
  one.result(Op::move_thread, Outcome::done);
  EXPECT_TRUE(one.fold(1).follow_up.again);
  EXPECT_TRUE(one.fold(4).follow_up.again);
  EXPECT_EQ(one.names(), Names{});
  const auto last = one.fold(5).follow_up;
  EXPECT_FALSE(last.again);
  EXPECT_EQ(last.retry_at, kNow + std::chrono::milliseconds(50))
      << "no event tells that it is over";
  EXPECT_EQ(one.names(), Names{ConditionName::threads_unsettled});
  one.report.results.clear();
  (void)one.fold(1);
  EXPECT_EQ(one.names(), Names{});
}

TEST(Fold, OnlyMovesUnsettleThreads) {
  Case one;
  one.result(Op::limit, Outcome::done);
  (void)one.fold(5);
  EXPECT_EQ(one.names(), Names{});
}

TEST(Fold, UnnamedThreadsAreLookedAtAgain) {
  Case one;
  one.observed.processes[1].threads[0].by = ClassSource::fallback;
  Instant now = kNow;
  std::vector<Instant> delays;
  while (const auto next = one.fold(1, now).follow_up.retry_at) {
    delays.push_back(*next - now);
    now = *next;
    ASSERT_LT(delays.size(), 100U);
  }
  const std::vector<Instant> head(delays.begin(), delays.begin() + 7);
  EXPECT_EQ(head, (std::vector<Instant>{1ms, 2ms, 4ms, 8ms, 16ms, 32ms, 32ms}));
  EXPECT_EQ(delays.back(), 32ms);
  EXPECT_GE(now - kNow, 500ms);
  EXPECT_LE(now - kNow, 533ms);
}

TEST(Fold, AVmmWithoutVcpusIsLookedAtALastTime) {
  Case one;
  for (auto& thread : one.observed.processes[1].threads) {
    thread.cls = ThreadClass::vmm;
    thread.by = ClassSource::fallback;
  }
  (void)one.fold(1, kNow);
  EXPECT_EQ(one.fold(1, kNow + 1s).follow_up.retry_at, kNow + 5s);
  EXPECT_FALSE(one.fold(1, kNow + 5s).follow_up.retry_at);
}

TEST(Fold, ANewThreadStartsTheLooksAgain) {
  Case one;
  auto& threads = one.observed.processes[1].threads;
  threads[0].by = ClassSource::role;
  for (Instant now = kNow; now < kNow + 1s; now += 32ms) (void)one.fold(1, now);
  EXPECT_FALSE(one.fold(1, kNow + 6s).follow_up.retry_at);
  threads.push_back(threads[0]);
  threads.back().facts.key.pid = 22;
  EXPECT_EQ(one.fold(1, kNow + 7s).follow_up.retry_at, kNow + 7s + 1ms);
  threads.pop_back();
  EXPECT_NE(one.fold(1, kNow + 8s).follow_up.retry_at, kNow + 8s + 1ms) << "fewer are no news";
}

TEST(Fold, NamedThreadsNeedNoLook) {
  Case one;
  for (const auto by : {ClassSource::kvm, ClassSource::name, ClassSource::syscall}) {
    one.observed.processes[1].threads[0].by = by;
    EXPECT_FALSE(one.fold().follow_up.retry_at);
  }
}

TEST(Fold, AVcpuThatHasNotRunIsWaitedForWithGrowingDelay) {
  Case one;
  one.observed.processes[1].threads[0].by = ClassSource::fallback;
  one.observed.kvm_incomplete = true;
  (void)one.fold(1, kNow);
  EXPECT_EQ(one.fold(1, kNow + 600ms).follow_up.retry_at, kNow + 1200ms);
  EXPECT_EQ(one.fold(1, kNow + 10s).follow_up.retry_at, kNow + 20s);
  EXPECT_EQ(one.fold(1, kNow + 1h).follow_up.retry_at, kNow + 1h + 30s);
}

TEST(Fold, NoLookWhileNothingIsDone) {
  Case one;
  one.observed.processes[1].threads[0].by = ClassSource::fallback;
  one.want.act = false;
  EXPECT_FALSE(one.fold().follow_up.retry_at);
}

// --- failures -----------------------------------------------------------------------------------

struct FailureRow {
  const char* name;
  Op op;
  const char* key;
  int code;
  Names conditions;
};
class Failures : public testing::TestWithParam<FailureRow> {};

TEST_P(Failures, BecomeConditions) {
  Case one;
  one.result(GetParam().op, Outcome::failed, GetParam().code).step.key = GetParam().key;
  (void)one.fold();
  EXPECT_EQ(one.names(), GetParam().conditions);
  one.report.results.clear();
  one.record.scope_tries = 0;
  (void)one.fold();
  EXPECT_EQ(one.names(), Names{}) << "the step succeeded";
}

using enum ConditionName;
const FailureRow kFailures[] = {
    {"mkdir", Op::create, "", ENOSPC, {write_failed}},
    {"mark", Op::mark, "", EACCES, {write_failed}},
    {"seed", Op::seed, "cpuset.cpus", EINVAL, {write_failed}},
    {"limit", Op::limit, "memory.max", EBUSY, {write_failed}},
    {"limit_without_file", Op::limit, "memory.max", ENOENT, {controller_missing}},
    {"controller", Op::enable, "cgroup.subtree_control", EBUSY, {controller_missing}},
    {"threaded_mode", Op::enable, "cgroup.type", EOPNOTSUPP, {write_failed}},
    {"device", Op::device, "", EPERM, {device_policy_not_carried}},
    {"scope", Op::start_scope, "x.scope", ENOTCONN, {scope_failed}},
    {"scope_limit", Op::set_scope, "memory.max", ENOTCONN, {scope_failed}},
    {"move", Op::move_process, "cgroup.procs", EACCES, {write_failed}},
    {"task_ended", Op::move_thread, "cgroup.threads", ESRCH, {}},
    {"group_vanished_before_move", Op::move_thread, "cgroup.threads", ENODEV, {}},
    {"unborn", Op::move_thread, "cgroup.threads", EINVAL, {}},
    {"removed_already", Op::remove, "", ENOENT, {}},
    {"removed_meanwhile", Op::remove, "", ENODEV, {}},
    {"busy", Op::remove, "", EBUSY, {}},
    {"not_removable", Op::remove, "", EPERM, {write_failed}},
};
INSTANTIATE_TEST_SUITE_P(Fold, Failures, testing::ValuesIn(kFailures),
                         [](const auto& row) { return row.param.name; });

TEST(Fold, SkippedStepsAreNoFailure) {
  Case one;
  one.result(Op::limit, Outcome::skipped);
  (void)one.fold();
  EXPECT_EQ(one.names(), Names{});
  EXPECT_EQ(one.record.state, SandboxState::placed);
}

TEST(Fold, AStrangerIsSaidUntilSomebodyAcknowledges) {
  Case one;
  one.result(Op::move_process, Outcome::failed).stranger = true;
  (void)one.fold();
  one.report.results.clear();
  (void)one.fold();
  EXPECT_EQ(one.names(), Names{stranger_moved});
  EXPECT_EQ(one.record.state, SandboxState::degraded);
}

TEST(Fold, ATaskThatIsBeingCreatedIsTriedFiveTimes) {
  Case one;
  one.result(Op::move_thread, Outcome::failed, EINVAL);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(one.fold().follow_up.retry_at, kNow + 6ms);
    EXPECT_EQ(one.names(), Names{});
  }
  EXPECT_NE(one.fold().follow_up.retry_at, kNow + 6ms);
  EXPECT_EQ(one.names(), Names{write_failed});
  one.report.results.clear();
  (void)one.fold();
  EXPECT_EQ(one.record.move_tries, 0U);
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

// --- removal ------------------------------------------------------------------------------------

TEST(Fold, ABusyGroupIsRetriedTenTimesAndThenSaid) {
  Case one;
  one.observed.gone = true;
  one.result(Op::remove, Outcome::failed, EBUSY);
  Instant delay = 1ms;
  for (int i = 0; i < 10; ++i, delay *= 2) {
    EXPECT_EQ(one.fold().follow_up.retry_at, kNow + delay) << i;
    EXPECT_EQ(one.names(), Names{});
  }
  EXPECT_FALSE(one.fold().follow_up.retry_at);
  EXPECT_EQ(one.names(), Names{removal_blocked});
  EXPECT_FALSE(one.fold().follow_up.retry_at) << "only at resyncs";
  one.report.results.clear();
  (void)one.fold();
  EXPECT_EQ(one.names(), Names{});
  EXPECT_EQ(one.record.removal_tries, 0U);
}

TEST(Fold, ForgottenWhenGoneAndNothingIsLeft) {
  Case one;
  EXPECT_FALSE(one.fold().follow_up.forget);
  one.observed.gone = true;
  GroupState state;
  state.ref = {"v2", CgroupPath::parse("/p/kata-sandbox-S").value()};
  state.mark = "S";
  one.observed.groups[state.ref] = state;
  EXPECT_FALSE(one.fold().follow_up.forget);
  one.observed.groups.begin()->second.mark = "other";
  EXPECT_TRUE(one.fold().follow_up.forget);
  one.observed.pending = PendingJob{"x.scope"};
  one.record.scope_asked = kNow;
  EXPECT_FALSE(one.fold().follow_up.forget);
}

TEST(CreationOpen, UntilEveryMarkIsMade) {
  Case one;
  EXPECT_FALSE(creation_open(one.report));
  one.result(Op::create, Outcome::done);
  one.result(Op::mark, Outcome::done);
  EXPECT_FALSE(creation_open(one.report));
  one.result(Op::mark, Outcome::failed);
  EXPECT_TRUE(creation_open(one.report));
  one.report.results.clear();
  one.result(Op::mark, Outcome::skipped);
  EXPECT_TRUE(creation_open(one.report));
  one.report.results.clear();
  one.result(Op::start_scope, Outcome::pending);
  EXPECT_TRUE(creation_open(one.report));
}

}  // namespace
}  // namespace kcg::test
