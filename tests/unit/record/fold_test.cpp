// SPDX-License-Identifier: Apache-2.0
#include "record/fold.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>

#include "fold_case.hpp"
#include "record/outcomes.hpp"
#include "record/record.hpp"
#include "support/sandbox_world.hpp"

namespace kcg::test {
namespace {

// --- state --------------------------------------------------------------------------------------

TEST(Fold, States) {
  Case one;
  one.want.act = false;
  EXPECT_EQ(one.fold().record.state, SandboxState::discovered);
  one.want.act = true;
  EXPECT_EQ(one.fold().record.state, SandboxState::placed);
  one.want.conditions = {{ConditionName::quota_clamped, "info only"}};
  EXPECT_EQ(one.fold().record.state, SandboxState::placed);
  one.want.conditions = {{ConditionName::parent_undersized, "a guess", Severity::info}};
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
  one.result(op::Create{}, Outcome::failed, ENOSPC);
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
  ASSERT_EQ(record.found_groups.all().size(), 1U);
  EXPECT_EQ(record.found_groups.all().begin()->path.str(), "/p/kata-sandbox-S");
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
  one.result(op::MoveThread{{{21, 3}}}, Outcome::done);
  EXPECT_TRUE(one.fold(1).follow_up.again);
  EXPECT_TRUE(one.fold(4).follow_up.again);
  EXPECT_EQ(one.names(), Names{});
  const auto last = one.fold(5).follow_up;
  EXPECT_FALSE(last.again);
  EXPECT_EQ(last.retry_at, kNow + std::chrono::milliseconds(50))
      << "no event tells that it is over";
  EXPECT_EQ(one.names(), Names{}) << "a starting VMM makes one thread after the other";
  (void)one.fold(5, kNow + 999ms);
  EXPECT_EQ(one.names(), Names{});
  (void)one.fold(5, kNow + 1s);
  EXPECT_EQ(one.names(), Names{ConditionName::threads_unsettled});
  one.report.results.clear();
  (void)one.fold(1, kNow + 1050ms);
  EXPECT_EQ(one.names(), Names{});
  one.result(op::MoveThread{{{21, 3}}}, Outcome::done);
  (void)one.fold(5, kNow + 2s);
  EXPECT_EQ(one.names(), Names{}) << "it had settled in between";
}

TEST(Fold, OnlyMovesUnsettleThreads) {
  Case one;
  one.result(op::Limit{{"memory.max"}}, Outcome::done);
  (void)one.fold(5);
  EXPECT_EQ(one.names(), Names{});
}

/// From each look to the next one, as long as there is one.
std::vector<Instant> delays_of_looks(Case& one) {
  std::vector<Instant> delays;
  Instant now = kNow;
  while (const auto next = one.fold(1, now).follow_up.retry_at) {
    delays.push_back(*next - now);
    now = *next;
    if (delays.size() == 100) break;
  }
  return delays;
}

TEST(Fold, UnnamedThreadsAreLookedAtAgain) {
  Case one;
  one.observed.processes[1].threads[0].by = ClassSource::fallback;
  EXPECT_EQ(delays_of_looks(one),
            (std::vector<Instant>{1ms, 2ms, 4ms, 8ms, 16ms, 32ms, 64ms, 128ms, 256ms}));
}

/// The name of a further one will be told, also where KVM has told of the others.
TEST(Fold, WhereVcpusHaveNamesUnnamedThreadsAreLookedAtLessOften) {
  Case one;
  auto& threads = one.observed.processes[1].threads;
  threads[0].facts.comm = "CPU 0/KVM";
  threads.push_back(threads[0]);
  threads.back().facts.key.pid = 22;
  threads.back().cls = ThreadClass::vmm;
  threads.back().by = ClassSource::role;
  EXPECT_EQ(delays_of_looks(one), (std::vector<Instant>{4ms, 500ms}));
}

TEST(Fold, WhereNamesAreToldTooThreadsThatNothingNamesNeedNoLook) {
  Case one;
  one.observed.told.threads = true;
  auto& threads = one.observed.processes[1].threads;
  threads.push_back(threads[0]);
  threads.back().facts.key.pid = 22;
  threads.back().cls = ThreadClass::vmm;
  threads.back().by = ClassSource::role;
  EXPECT_FALSE(delays_of_looks(one).empty()) << "KVM tells nobody when one more runs";
  threads[0].facts.comm = "CPU 0/KVM";
  EXPECT_TRUE(delays_of_looks(one).empty());
  one.observed.kvm_incomplete = true;
  EXPECT_FALSE(delays_of_looks(one).empty());
}

/// Of a VMM that has none yet: if it runs its VM by something else nobody tells.
TEST(Fold, WhereKvmWouldTellOfTheFirstVcpuThreadsAreLookedAtLessOften) {
  const auto first = [](const Told& told, bool missing) {
    Case one;
    one.observed.told = told;
    one.observed.vcpus_missing = missing;
    one.observed.processes[1].threads[0].cls = ThreadClass::vmm;
    one.observed.processes[1].threads[0].by = ClassSource::fallback;
    return delays_of_looks(one).front();
  };
  EXPECT_EQ(first({true, true}, false), 500ms);
  EXPECT_EQ(first({true, true}, true), 1ms)
      << "it knows one, and nobody tells whose thread that is";
  EXPECT_EQ(first({false, true}, false), 1ms);
  EXPECT_EQ(first({true, false}, false), 1ms);
}

TEST(Fold, WhereKvmTellsOfNewVcpusThreadsThatNothingNamesNeedNoLook) {
  Case one;
  one.observed.told = {true, true};
  auto& threads = one.observed.processes[1].threads;
  threads.push_back(threads[0]);
  threads.back().facts.key.pid = 22;
  threads.back().cls = ThreadClass::vmm;
  threads.back().by = ClassSource::role;
  EXPECT_TRUE(delays_of_looks(one).empty());
  one.observed.kvm_incomplete = true;
  EXPECT_FALSE(delays_of_looks(one).empty()) << "that it runs it tells nobody";
  one.observed.kvm_incomplete = false;
  one.observed.told.threads = false;
  EXPECT_FALSE(delays_of_looks(one).empty());
  one.observed.told.threads = true;
  threads[0].cls = ThreadClass::vmm;
  threads[0].by = ClassSource::role;
  EXPECT_FALSE(delays_of_looks(one).empty()) << "there may be a VM that we do not know";
}

/// Many looks may follow each other within milliseconds.
TEST(Fold, WhatCannotBeReadIsToldWhereItLasts) {
  Case one;
  one.observed.unread_processes.emplace_back("cmdline: it hangs");
  one.want.conditions.push_back({ConditionName::input_unreadable, "cmdline: it hangs"});
  const auto tells = [&](Instant now) {
    (void)one.fold(1, now);  // ignored: the record tells
    return !one.names().empty();
  };
  EXPECT_FALSE(tells(kNow));
  EXPECT_FALSE(tells(kNow + 1ms));
  EXPECT_FALSE(tells(kNow + 2ms));
  EXPECT_FALSE(tells(kNow + 4999ms));
  EXPECT_TRUE(tells(kNow + 5000ms));
  one.observed.unread_processes.clear();
  (void)one.fold(1, kNow + 5100ms);
  one.observed.unread_processes.emplace_back("cmdline: it hangs");
  EXPECT_FALSE(tells(kNow + 5200ms)) << "that is another time";
}

TEST(Fold, AVmmWithoutVcpusIsLookedAtEverLessOften) {
  Case one;
  for (auto& thread : one.observed.processes[1].threads) {
    thread.cls = ThreadClass::vmm;
    thread.by = ClassSource::fallback;
  }
  (void)one.fold(1, kNow);
  EXPECT_EQ(one.fold(1, kNow + 1s).follow_up.retry_at, kNow + 5s);
  EXPECT_EQ(one.fold(1, kNow + 5s).follow_up.retry_at, kNow + 10s)
      << "KVM tells of it no other way";
  EXPECT_EQ(one.fold(1, kNow + 100s).follow_up.retry_at, kNow + 130s);
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

TEST(Fold, ThePlaceIsKeptWhenNothingIsWantedAnyMore) {
  Case one;
  one.want.driver = Driver::systemd;
  one.want.pod_cgroup = CgroupPath::parse("/p").value();
  one.want.sandbox_cgroup = CgroupPath::parse("/p/kata-sandbox-S").value();
  (void)one.fold();
  one.observed.gone = true;
  one.want = Desired{};
  const auto place = standing_of(one.fold().record).place;
  ASSERT_TRUE(place);
  EXPECT_EQ(place->pod_cgroup.str(), "/p");
  EXPECT_EQ(place->sandbox_cgroup.str(), "/p/kata-sandbox-S");
  EXPECT_EQ(place->driver, Driver::systemd);
}

TEST(Fold, ATaskThatIsBeingCreatedIsTriedFiveTimes) {
  Case one;
  one.result(op::MoveThread{{{21, 3}}}, Outcome::failed, EINVAL);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(one.fold().follow_up.retry_at, kNow + 6ms);
    EXPECT_EQ(one.names(), Names{});
  }
  EXPECT_NE(one.fold(1, kNow + 1s).follow_up.retry_at, kNow + 1s + 6ms);
  EXPECT_EQ(one.names(), Names{write_failed});
  one.report.results.clear();
  (void)one.fold();
  EXPECT_EQ(one.record.retries.moves, 0U);
}

// --- removal ------------------------------------------------------------------------------------

TEST(Fold, ABusyGroupIsRetriedTenTimesAndThenSaid) {
  Case one;
  one.observed.host.mode = HierarchyMode::v1;
  one.observed.gone = true;
  one.result(op::Remove{}, Outcome::failed, EBUSY);
  Instant delay = 1ms;
  for (int i = 0; i < 10; ++i, delay *= 2) {
    EXPECT_EQ(one.fold().follow_up.retry_at, kNow + delay) << i;
    EXPECT_EQ(one.names(), Names{});
  }
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(one.fold().follow_up.retry_at, kNow + 5s) << "seldom, for as long as it takes";
    EXPECT_EQ(one.names(), Names{removal_blocked});
  }
  EXPECT_FALSE(one.fold().follow_up.forget) << "else nobody would know of it";
  one.report.results.clear();
  (void)one.fold();
  EXPECT_EQ(one.names(), Names{});
  EXPECT_EQ(one.record.retries.removals, 0U);
}

TEST(Fold, ABusyGroupThatTellsWhenItIsEmptyIsHardlyAsked) {
  Case one;
  one.observed.gone = true;
  one.observed.host.mode = HierarchyMode::v2;
  one.result(op::Remove{}, Outcome::failed, EBUSY);
  for (int i = 0; i < 10; ++i) (void)one.fold();
  EXPECT_EQ(one.fold().follow_up.retry_at, kNow + 60s);
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
  one.report.results.push_back({{state.ref, op::Remove{}}, Outcome::failed, EBUSY, "busy"});
  EXPECT_FALSE(one.fold().follow_up.forget);
  one.report.results.back().outcome = Outcome::done;
  const auto removed = one.fold();
  EXPECT_TRUE(removed.follow_up.forget);
  EXPECT_FALSE(removed.follow_up.again) << "what is there to look for?";
  EXPECT_TRUE(one.record.found_groups.empty());
  one.report.results.clear();
  one.observed.groups.begin()->second.mark = "other";
  EXPECT_TRUE(one.fold().follow_up.forget);
  one.observed.unread_groups.emplace_back("no more descriptors");
  EXPECT_FALSE(one.fold().follow_up.forget) << "what cannot be read may be left";
  one.observed.unread_groups.clear();
  one.observed.pending = PendingJob{"x.scope"};
  one.record.scope.change([](ScopeTries& scope) { scope.asked = kNow; });
  EXPECT_FALSE(one.fold().follow_up.forget);
}

TEST(CreationOpen, UntilEveryMarkIsMade) {
  Case one;
  EXPECT_FALSE(creation_open(one.report));
  one.result(op::Create{}, Outcome::done);
  one.result(op::Mark{"S"}, Outcome::done);
  EXPECT_FALSE(creation_open(one.report));
  one.result(op::Mark{"S"}, Outcome::failed);
  EXPECT_TRUE(creation_open(one.report));
  one.report.results.clear();
  one.result(op::Mark{"S"}, Outcome::skipped);
  EXPECT_TRUE(creation_open(one.report));
  one.report.results.clear();
  one.result(op::StartScope{}, Outcome::pending);
  EXPECT_TRUE(creation_open(one.report));
}

}  // namespace
}  // namespace kcg::test
