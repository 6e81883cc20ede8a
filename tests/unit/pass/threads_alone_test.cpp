// SPDX-License-Identifier: Apache-2.0
//
// Looks at a sandbox of whose threads alone there is news.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <set>
#include <utility>

#include "pass/glance.hpp"
#include "pass/reconsider.hpp"
#include "support/sandbox_world.hpp"
#include "support/thread_events.hpp"

namespace kcg::test {
namespace {

using std::chrono::milliseconds;

/// A pass has just moved everybody, and was the last one that looked at all.
class ThreadsAlone : public testing::Test {
 protected:
  void place(HierarchyMode mode, bool kvm_tells = true) {
    Scenario scenario;
    scenario.mode = mode;
    scenario.kvm_entries = kvm_tells;
    world_.emplace(scenario);
    world_->boot();
    (void)world_->pass();  // ignored: it makes the groups
    world_->all_taken_back();
    world_->confirm_after = milliseconds(20);
    keep(world_->pass());
    ASSERT_EQ(world_->misplaced(), "");
    ASSERT_TRUE(glance_ && last_ && last_->groups_hold);
  }
  [[nodiscard]] ThreadsRead glance(const Stirred& stirred = {}) {
    auto& w = *world_;
    return look_at_threads({w.tree, w.proc, w.clock, w.manager, w.notes}, w.scenario.config,
                           *glance_, stirred, {}, w.record)
        .read;
  }
  Round look(const Stirred& stirred = {}) { return look_with(glance(stirred)); }
  Round look_with(const ThreadsRead& read) {
    auto& w = *world_;
    w.last = &last_->observed;
    w.groups_hold = true;
    w.threads = &read;
    w.proc.clear_looks();
    auto pass = w.pass();
    w.last = nullptr;
    w.groups_hold = false;
    w.threads = nullptr;
    keep(pass);
    return pass.rounds.front();
  }
  void keep(const Pass& pass) {
    glance_ = glance_after(pass.result, world_->clock);
    last_ = last_look(pass.last(), world_->record, world_->assembled.conditions);
  }

  std::optional<SandboxWorld> world_;
  std::optional<Glance> glance_;
  std::optional<LastLook> last_;
};

TEST_F(ThreadsAlone, AreLookedAtAndTheRestIsWhatWasSeenAndDone) {
  for (const auto mode : {HierarchyMode::v1, HierarchyMode::v2}) {
    place(mode);
    (void)world_->plug_vcpu();
    const auto before = world_->look();
    last_->observed.foreign.emplace_back();
    const auto round = look();
    EXPECT_TRUE(round.observed.threads_alone);
    EXPECT_TRUE(world_->proc.looked_at().empty() && world_->proc.walked().empty());
    EXPECT_EQ(round.observed.processes, before.observed.processes) << "each where it was moved to";
    EXPECT_EQ(round.observed.foreign.size(), 1U);
    EXPECT_EQ(round.plan, before.plan);
    EXPECT_EQ(world_->misplaced(), "");
  }
}

TEST_F(ThreadsAlone, AreThoseOfWhoRunsAVmAndOfWhoWasStirred) {
  place(HierarchyMode::v2);
  (void)world_->proc.add_thread(world_->virtiofsd, "worker");
  const auto threads = [&](const Round& round) {
    for (const auto& process : round.observed.processes)
      if (process.facts.key.pid == world_->virtiofsd) return process.threads.size();
    return std::size_t{0};
  };
  (void)world_->plug_vcpu();
  const auto before = threads(look());
  (void)world_->plug_vcpu();
  EXPECT_EQ(threads(look(any_of(world_->virtiofsd))), before + 1);
}

TEST_F(ThreadsAlone, AreOfThoseThatTheLastLookKnew) {
  place(HierarchyMode::v2);
  (void)world_->plug_vcpu();
  for (auto& process : last_->observed.processes)
    if (process.role == ProcessRole::virtiofsd) ++process.facts.key.start;
  EXPECT_FALSE(look(any_of(world_->virtiofsd)).observed.threads_alone);
  place(HierarchyMode::v2);
  (void)world_->plug_vcpu();
  auto read = glance();
  read.processes.front().others.push_back(4711);
  EXPECT_FALSE(look_with(read).observed.threads_alone);
}

TEST_F(ThreadsAlone, AreOfNobodyWithoutTheirLeader) {
  place(HierarchyMode::v2);
  (void)world_->plug_vcpu();
  auto read = glance();
  std::erase_if(read.processes.front().threads,
                [this](const ThreadFacts& thread) { return thread.key.pid == world_->vmm; });
  EXPECT_FALSE(look_with(read).observed.threads_alone);
}

TEST_F(ThreadsAlone, AreAskedWhatTheyDoWhereNothingElseTells) {
  place(HierarchyMode::v2, false);
  const Pid vcpu = world_->proc.add_thread(world_->vmm);
  world_->proc.set_vcpu_ioctl(vcpu);
  const auto before = world_->look();
  const auto round = look();
  EXPECT_TRUE(round.observed.threads_alone);
  EXPECT_EQ(round.observed.processes, before.observed.processes);
  EXPECT_EQ(round.plan, before.plan);
}

/// Ids are given anew from the lowest on.
TEST_F(ThreadsAlone, TheLeaderStandsFirstWhateverItsId) {
  place(HierarchyMode::v2);
  (void)world_->plug_vcpu();
  const auto before = world_->look();
  auto read = glance();
  auto& threads = read.processes.front().threads;
  std::rotate(threads.begin(), threads.begin() + 1, threads.end());
  EXPECT_EQ(look_with(read).observed.processes, before.observed.processes);
}

/// What a whole look has raised another one may lift, or nobody.
TEST_F(ThreadsAlone, DoNotDoWhereTheLastLookHasRaisedAnything) {
  place(HierarchyMode::v2);
  (void)world_->plug_vcpu();
  last_->observed.conditions.push_back({ConditionName::input_unreadable, "too many threads"});
  EXPECT_FALSE(look().observed.threads_alone);
}

/// What KVM says is said of all that run a VM.
TEST_F(ThreadsAlone, DoNotDoWhereAnotherRunsAVmThatWasNotRead) {
  place(HierarchyMode::v2);
  (void)world_->plug_vcpu();
  for (auto& process : last_->observed.processes)
    if (process.role == ProcessRole::shim) process.hypervisor = Hypervisor::dragonball;
  EXPECT_FALSE(look().observed.threads_alone);
}

/// One that has its id tells of itself.
TEST_F(ThreadsAlone, AreWithoutOneThatHasEnded) {
  for (const bool comes_back : {false, true}) {
    place(HierarchyMode::v2);
    const Pid vcpu = world_->plug_vcpu();
    auto read = glance();
    if (comes_back)
      --read.processes.front().threads.back().key.start;
    else
      world_->proc.exit_thread(vcpu);
    const auto round = look_with(read);
    EXPECT_TRUE(round.observed.threads_alone);
    EXPECT_TRUE(round.plan.steps.empty());
  }
}

/// Then all is asked for once more.
TEST_F(ThreadsAlone, DoNotDoWhereTheyCannotBeRead) {
  unsigned whole = 0;
  for (unsigned fails = 0; fails < 20; ++fails) {
    place(HierarchyMode::v2);
    (void)world_->plug_vcpu();
    const auto read = glance();
    unsigned reads = 0;
    world_->proc.on_read([&] { return reads++ == fails ? EACCES : 0; });
    const auto round = look_with(read);
    EXPECT_FALSE(round.observed.unread()) << fails;
    whole += round.observed.threads_alone ? 0U : 1U;
  }
  EXPECT_GT(whole, 0U);
}

TEST_F(ThreadsAlone, LeaveToBeSeenToWhatWasToBeSeenTo) {
  place(HierarchyMode::v2);
  auto before = *glance_;
  ASSERT_TRUE(before.confirm_at && !before.moves.empty());
  before.look_at = world_->clock.now() + milliseconds(7);
  world_->clock.advance(milliseconds(5));
  (void)world_->plug_vcpu();
  const auto read_at = world_->clock.now();
  const auto read = glance();
  world_->clock.advance(milliseconds(1));
  (void)look_with(read);
  auto now = glance_;
  ASSERT_TRUE(now && now->confirm_at && !now->moves.empty());
  const auto own = now->moves;
  EXPECT_EQ(take_over(before, now), before.look_at);
  EXPECT_EQ(now->look_at, before.look_at);
  EXPECT_EQ(now->confirm_at, before.confirm_at);
  EXPECT_EQ(now->moves.size(), before.moves.size() + own.size());
  EXPECT_EQ(now->moves.back(), own.back()) << "the last one counts";
  EXPECT_EQ(now->seen_since(world_->vmm), read_at);
  EXPECT_EQ(now->seen_since(world_->shim), before.seen_since(world_->shim));
  now.reset();
  EXPECT_EQ(take_over(before, now), before.look_at);
}

}  // namespace
}  // namespace kcg::test
