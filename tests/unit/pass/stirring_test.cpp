// SPDX-License-Identifier: Apache-2.0
//
// Glances that read the threads that were heard of.
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "unit/pass/glancing.hpp"

namespace kcg::test {
namespace {

using std::chrono::milliseconds;

/// Where all is told, those of whom nothing was told are not read.
class Stirring : public Glancing {
 protected:
  /// One vCPU that has not run, or none.
  void settle_told(bool waits = false) {
    Scenario scenario;
    scenario.thread_names = true;
    settle(scenario);
    if (waits) waiting_ = world_->plug_vcpu(false);
    hear({true, true});
    (void)world_->pass();  // ignored: judged by the next one
    glance_ = glance_after(world_->pass().result, world_->clock);
    ASSERT_TRUE(glance_);
    ASSERT_EQ(glance_->vm.incomplete, waits);
  }
  void hear(const Told& told) { world_->context.told = told_ = told; }
  [[nodiscard]] Glanced look_at(const std::vector<Pid>& tids) {
    Stirred stirred;
    stirred[world_->vmm].add(tids);
    return look(stirred);
  }
  /// Nobody tells of it.
  void rename_one() { world_->proc.rename(world_->io_threads.front(), "CPU 8/KVM"); }

  Pid waiting_ = 0;
};

TEST_F(Stirring, OnlyThoseThatWereHeardOfAreRead) {
  const auto as_seen = [&](const Told& told, bool heard) {
    settle_told();
    hear(told);
    rename_one();
    return look_at({heard ? world_->io_threads.front() : world_->vmm}).as_seen;
  };
  EXPECT_TRUE(as_seen({true, true}, false));
  EXPECT_FALSE(as_seen({true, true}, true));
  EXPECT_FALSE(as_seen({false, true}, false)) << "more may have stirred";
  EXPECT_FALSE(as_seen({true, false}, false)) << "one may be a vCPU by now";
  settle_told();
  rename_one();
  EXPECT_FALSE(look().as_seen) << "it may be any";
}

TEST_F(Stirring, WhoIsNotKnownIsRead) {
  settle_told();
  (void)world_->proc.add_thread(world_->vmm, "worker");
  EXPECT_TRUE(look_at({world_->vmm}).as_seen);
  (void)world_->proc.add_thread(world_->vmm, "IO more");
  const auto seen = look_at({world_->vmm});
  EXPECT_FALSE(seen.as_seen);
  ASSERT_EQ(seen.read.processes.size(), 1U);
  const auto& [process, read, others, vcpus] = seen.read.processes.front();
  EXPECT_EQ(read.size(), 3U) << "the leader has stirred, and the look has not seen the worker";
  EXPECT_EQ(read.size() + others.size(), world_->proc.tids(world_->vmm)->size());
  EXPECT_FALSE(vcpus.directory.empty()) << "a look takes KVM's own word";
}

/// What happened to them since may still have to be heard.
TEST_F(Stirring, WhoIsNotReadIsAsOldAsHeWas) {
  settle_told();
  const auto looked = glance_->seen_since(world_->vmm);
  world_->clock.advance(milliseconds(5));
  EXPECT_TRUE(look_at({world_->vmm}).as_seen);
  EXPECT_EQ(glance_->seen_since(world_->vmm), looked);
  (void)world_->proc.add_thread(world_->vmm, "IO more");
  EXPECT_EQ(look_at({world_->vmm}).read.since, looked);
}

TEST_F(Stirring, WhoHasEndedIsMissed) {
  settle_told();
  world_->proc.exit_thread(world_->vcpus.front());
  EXPECT_FALSE(look_at({world_->vmm}).as_seen);
  settle_told();
  world_->proc.exit_thread(world_->proc.add_thread(world_->vmm, "worker"));
  EXPECT_TRUE(look_at({world_->vmm}).as_seen);
  world_->proc.exit_thread(world_->vmm);
  const auto leaderless = look_at({world_->vmm});
  EXPECT_TRUE(!leaderless.as_seen && leaderless.read.processes.empty());
  world_->end_vmm();
  EXPECT_FALSE(look_at({world_->vmm}).as_seen);
}

/// That a vCPU runs is told to nobody.
TEST_F(Stirring, KvmIsAskedWhereItDoesNotKnowAll) {
  for (const bool stirs : {true, false}) {
    const auto glance = [&] { return stirs ? look_at({world_->vmm}) : look({}); };
    settle_told(true);
    EXPECT_TRUE(glance().as_seen);
    EXPECT_TRUE(glance_->vm.incomplete);
    world_->run_vcpu(waiting_);
    EXPECT_TRUE(glance().as_seen) << "it was known by its name";
    EXPECT_FALSE(glance_->vm.incomplete);
    settle_told(true);
    auto vcpus = world_->vcpus;
    vcpus.back() = world_->io_threads.front();
    world_->proc.set_vcpus(world_->vmm, vcpus);
    const auto seen = glance();
    EXPECT_FALSE(seen.as_seen);
    ASSERT_EQ(seen.read.processes.size(), 1U);
    EXPECT_EQ(seen.read.processes.front().threads.size(), stirs ? 1U : 0U);
  }
}

/// What a guest does is told to nobody.
TEST_F(Stirring, WhereNoVcpuIsKnownAllAreReadInTheirOwnTime) {
  Scenario scenario;
  scenario.vcpus = 0;
  for (const bool young : {true, false}) {
    young_ = young;
    settle(scenario);
    hear({true, true});
    glance_->told = told_;
    EXPECT_TRUE(look({}).as_seen);
    world_->proc.thread(world_->io_threads.front()).guest_ticks = 1;
    EXPECT_EQ(look_at({world_->vmm}).as_seen, young) << "its VM may be none of KVM's";
    EXPECT_FALSE(look({}).as_seen);
  }
}

/// KVM's word counts for more than any other.
TEST_F(Stirring, AThreadThatKvmTellsOfOtherwiseIsNews) {
  settle_told(true);
  world_->proc.set_vcpus(world_->vmm, {world_->vcpus.front(), world_->io_threads.front(), 0});
  EXPECT_FALSE(look({}).as_seen);
  settle_told(true);
  world_->proc.set_vcpus(world_->vmm, {0, waiting_, 0});
  EXPECT_FALSE(look({}).as_seen) << "one that ran runs no more";
  settle_told(true);
  auto vcpus = world_->vcpus;
  vcpus.back() = 0;
  world_->proc.set_vcpus(world_->vmm, vcpus);
  EXPECT_TRUE(look({}).as_seen);
  vcpus.push_back(0);
  world_->proc.set_vcpus(world_->vmm, vcpus);
  EXPECT_FALSE(look({}).as_seen) << "which thread is that?";
}

TEST_F(Stirring, AVcpuOfManyThatWaitMayRunInAnotherThread) {
  settle_told(true);
  (void)world_->plug_vcpu(false);
  const auto ran = world_->vcpus.front();
  const auto kvm_tells = [&](Pid second) { world_->proc.set_vcpus(world_->vmm, {ran, second, 0}); };
  kvm_tells(0);
  (void)world_->pass();  // ignored: judged by the next one
  glance_ = glance_after(world_->pass().result, world_->clock);
  ASSERT_TRUE(glance_ && glance_->vm.incomplete && !glance_->vm.missing);
  kvm_tells(waiting_);
  EXPECT_TRUE(look({}).as_seen);
  kvm_tells(world_->io_threads.front());
  EXPECT_FALSE(look({}).as_seen);
}

TEST_F(Stirring, WhereAVcpuHasNoThreadAllAreRead) {
  settle_told();
  auto vcpus = world_->vcpus;
  vcpus.push_back(0);
  world_->proc.set_vcpus(world_->vmm, vcpus);
  (void)world_->pass();  // ignored: judged by the next one
  glance_ = glance_after(world_->pass().result, world_->clock);
  ASSERT_TRUE(glance_ && glance_->vm.missing);
  EXPECT_TRUE(look_at({world_->vmm}).as_seen);
  rename_one();
  EXPECT_FALSE(look_at({world_->vmm}).as_seen);
}

}  // namespace
}  // namespace kcg::test
