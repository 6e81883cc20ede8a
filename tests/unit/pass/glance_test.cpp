// SPDX-License-Identifier: Apache-2.0
#include "pass/glance.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <functional>
#include <utility>

#include "unit/pass/glancing.hpp"

namespace kcg::test {
namespace {

using std::chrono::milliseconds;

TEST_F(Glancing, WhatIsInItsPlaceIsAsSeen) {
  settle();
  EXPECT_TRUE(look().as_seen);
  EXPECT_TRUE(look().as_seen);
}

struct Case {
  const char* name;
  std::function<void(SandboxWorld&)> happens;
  bool as_seen;
  bool readable = true;
};

TEST_F(Glancing, NoticesWhatALookWouldFind) {
  const Case cases[] = {
      {"a worker", [](auto& w) { w.proc.add_thread(w.vmm, "worker"); }, true},
      {"a worker that ended", [](auto& w) { w.proc.exit_thread(w.proc.add_thread(w.vmm)); }, true},
      {"a name that means nothing",
       [](auto& w) { w.proc.rename(w.proc.add_thread(w.vmm), "worker"); }, true},
      {"a worker born among the vCPUs",
       [](auto& w) { w.proc.add_thread(w.vmm, "worker", w.vcpus.front()); }, false},
      {"a vCPU more", [](auto& w) { (void)w.plug_vcpu(); }, false},
      {"a vCPU more that has not run", [](auto& w) { (void)w.plug_vcpu(false); }, true},
      {"an I/O thread more", [](auto& w) { w.proc.add_thread(w.vmm, "IO more"); }, false},
      {"a vCPU's end", [](auto& w) { w.proc.exit_thread(w.vcpus.front()); }, false},
      {"the VMM's end", [](auto& w) { w.end_vmm(); }, false, false},
      {"what cannot be read", [](auto& w) { w.proc.on_read([] { return EACCES; }); }, false, false},
  };
  for (const auto& one : cases) {
    settle();
    one.happens(*world_);
    const auto seen = look();
    EXPECT_EQ(seen.as_seen, one.as_seen) << one.name;
    EXPECT_EQ(!seen.read.processes.empty(), one.readable && !one.as_seen) << one.name;
  }
}

/// KVM is asked again until it does: nothing else comes of it.
TEST_F(Glancing, NotesThatAVcpuHasNotRun) {
  settle();
  EXPECT_FALSE(glance_->vm.incomplete);
  const Pid waits = world_->plug_vcpu(false);
  EXPECT_TRUE(look().as_seen);
  EXPECT_TRUE(glance_->vm.incomplete && glance_->vm.missing);
  ASSERT_TRUE(look().again) << "that it runs is told to nobody";
  world_->run_vcpu(waits);
  EXPECT_FALSE(look().as_seen);
}

/// Where KVM tells nothing a thread that has run a guest is a vCPU, whatever it is called.
TEST_F(Glancing, SeesWhoRunsAGuest) {
  settle();
  world_->proc.set_debugfs(false);
  for (const Pid vcpu : world_->vcpus) world_->proc.thread(vcpu).guest_ticks = 1;
  EXPECT_TRUE(look().as_seen);
  world_->proc.thread(world_->proc.add_thread(world_->vmm, "worker")).guest_ticks = 1;
  EXPECT_FALSE(look().as_seen);
}

/// Weights follow how many there are.
TEST_F(Glancing, AVcpuMoreIsNewsWhereverItWasBorn) {
  settle();
  auto& w = *world_;
  w.proc.set_vcpus(w.vmm, {w.vmm});
  (void)w.pass();  // ignored: judged by the next one
  glance_ = glance_after(w.pass().result, w.clock);
  ASSERT_TRUE(glance_);
  w.proc.set_vcpus(w.vmm, {w.vmm, w.proc.add_thread(w.vmm, "worker")});
  EXPECT_FALSE(look().as_seen);
}

/// Soon after a pass that moved somebody it is seen, once, whether all are where they were moved
/// to.
class Confirming : public Glancing {
 protected:
  static constexpr auto kAfter = milliseconds(20);
  void place(HierarchyMode mode) {
    Scenario scenario;
    scenario.mode = mode;
    world_.emplace(scenario);
    world_->boot();
    (void)world_->pass();  // ignored: it makes the groups
    world_->all_taken_back();
    world_->confirm_after = kAfter;
    glance_ = glance_after(world_->pass().result, world_->clock);
    ASSERT_TRUE(glance_);
    ASSERT_TRUE(glance_->confirm_at);
    ASSERT_EQ(world_->misplaced(), "");
  }
  /// Nobody tells of it.
  void move(Pid tid, const char* cls) {
    const auto top = world_->expected_sandbox_group();
    const bool v1 = world_->scenario.mode == HierarchyMode::v1;
    const GroupRef group{v1 ? "cpu" : "v2", CgroupPath::parse(top + cls).value()};
    world_->tree.outside([&](CgroupTree& tree) {
      EXPECT_TRUE(tree.write(group, v1 ? "tasks" : "cgroup.threads", std::to_string(tid)));
    });
  }
};

TEST_F(Confirming, SeesWhoIsNotWhereHeWasMovedTo) {
  for (const auto mode : {HierarchyMode::v1, HierarchyMode::v2}) {
    for (const bool vcpu : {true, false}) {
      place(mode);
      if (vcpu)
        move(world_->vcpus.front(), "/vmm");
      else
        move(world_->shim, "/vcpu");
      EXPECT_TRUE(look().as_seen) << "not asked yet";
      world_->clock.advance(kAfter);
      const auto seen = look();
      EXPECT_FALSE(seen.as_seen);
      EXPECT_TRUE(seen.read.processes.empty()) << "who else was moved is not known";
    }
  }
}

TEST_F(Confirming, IsDoneOnceAndThenNamesTellAll) {
  place(HierarchyMode::v2);
  const auto first = look();
  EXPECT_TRUE(first.as_seen);
  EXPECT_LE(first.again, glance_->confirm_at);
  world_->clock.advance(kAfter);
  EXPECT_TRUE(look().as_seen);
  EXPECT_FALSE(glance_->confirm_at);
  EXPECT_TRUE(glance_->moves.empty());
  move(world_->vcpus.front(), "/vmm");
  EXPECT_TRUE(look().as_seen) << "whoever moves it is heard";
}

/// The pass that moves has planned nothing for whom nothing names.
TEST_F(Confirming, LooksForThoseThatNothingNamesFromThenOn) {
  place(HierarchyMode::v2);
  world_->clock.advance(kAfter);
  EXPECT_FALSE(world_->record.unnamed.due);
  EXPECT_TRUE(look({}).as_seen);
  EXPECT_TRUE(world_->record.unnamed.due);
}

TEST_F(Confirming, ANewThreadOfAProcessThatWasMovedIsWithItAndOneThatEndedIsMissedByNobody) {
  place(HierarchyMode::v2);
  world_->proc.exit_thread(world_->proc.add_thread(world_->shim));
  (void)world_->proc.add_thread(world_->shim, "worker");
  world_->clock.advance(kAfter);
  EXPECT_TRUE(look().as_seen);
  place(HierarchyMode::v2);
  const Pid stray = world_->proc.add_thread(world_->shim, "worker");
  move(stray, "/io");
  world_->clock.advance(kAfter);
  EXPECT_FALSE(look().as_seen);
}

TEST_F(Confirming, WhatCannotBeReadIsNotConfirmed) {
  place(HierarchyMode::v2);
  world_->clock.advance(kAfter);
  world_->tree.on_read([] { return EIO; });
  EXPECT_FALSE(look().as_seen);
}

/// Of so many a look is taken in parts, which a glance is not.
TEST_F(Glancing, ManyThreadsAreNotGlancedAt) {
  settle();
  while (world_->proc.tids(world_->vmm)->size() < kMostGlanced)
    world_->proc.add_thread(world_->vmm, "worker");
  EXPECT_TRUE(look().as_seen);
  world_->proc.add_thread(world_->vmm, "worker");
  EXPECT_FALSE(look().as_seen);
}

TEST_F(Glancing, ReadsNoThreadsWhereNobodyWasStirredAndAllIsTold) {
  Scenario scenario;
  scenario.thread_names = true;
  settle(scenario);
  world_->proc.on_read([] { return EACCES; });
  told_.threads = glance_->told.threads = true;
  EXPECT_TRUE(look({}).as_seen);
  EXPECT_FALSE(look().as_seen);
  glance_->vm.incomplete = true;
  EXPECT_FALSE(look({}).as_seen) << "KVM tells nobody when one more runs";
  glance_->vm.incomplete = false;
  told_.threads = false;
  EXPECT_FALSE(look({}).as_seen);
}

/// What is asked of each thread costs more than all else; one that runs its VM by something else
/// than KVM is asked when it has had the time.
TEST_F(Glancing, WhereKvmWouldTellAYoungVmmIsNotAskedForHints) {
  Scenario scenario;
  scenario.vcpus = 0;
  young_ = true;
  const auto notices = [&](const Told& told, Instant age) {
    settle(scenario);
    told_ = told;
    world_->proc.set_vcpu_ioctl(world_->proc.add_thread(world_->vmm));
    world_->clock.advance(age);
    return !look().as_seen;
  };
  EXPECT_TRUE(notices({}, Instant(0)));
  EXPECT_FALSE(notices({true, true}, Instant(0)));
  EXPECT_TRUE(notices({false, true}, Instant(0))) << "nobody tells of its threads";
  EXPECT_TRUE(notices({true, true}, std::chrono::milliseconds(2 * kYoungMs)));
}

/// Of such a one it is asked again soon.
TEST_F(Glancing, NotesThatAVcpuIsMissing) {
  settle();
  (void)world_->plug_vcpu(false);
  glance_ = glance_after(world_->pass().result, world_->clock);
  ASSERT_TRUE(glance_);
  EXPECT_TRUE(std::exchange(glance_->vm.missing, false));
  EXPECT_TRUE(look().as_seen);
  EXPECT_TRUE(glance_->vm.missing);
}

/// Without names KVM's word is what tells of a further vCPU.
TEST_F(Glancing, WhatIsToldFromNowOnSaysNothingOfBefore) {
  settle();
  told_ = {true, true};
  world_->proc.on_read([] { return EACCES; });
  EXPECT_FALSE(look({}).as_seen) << "it may have come before";
  world_->proc.on_read({});
  EXPECT_TRUE(look({}).as_seen);
  world_->proc.on_read([] { return EACCES; });
  EXPECT_TRUE(look({}).as_seen);
  told_.vcpus = false;
  EXPECT_FALSE(look({}).as_seen);
}

/// What was read of it ahead is older than the look; who was not looked at stays as old.
TEST_F(Glancing, EachProcessIsAsOldAsItsOwnThreads) {
  settle();
  const auto since = [&](Pid pid) { return glance_->seen_since(pid); };
  const auto looked = world_->clock.now();
  EXPECT_EQ(since(world_->vmm), looked);
  EXPECT_EQ(since(world_->shim), looked);
  EXPECT_EQ(since(4711), Instant(0)) << "nobody knows it";
  world_->clock.advance(milliseconds(1));
  EXPECT_TRUE(look().as_seen);
  EXPECT_EQ(since(world_->vmm), world_->clock.now());
  EXPECT_EQ(since(world_->shim), looked);
  while (world_->proc.tids(world_->vmm)->size() <= kMostGlanced / 2)
    world_->proc.add_thread(world_->vmm, "worker");
  glance_ = glance_after(world_->pass().result, world_->clock);
  ASSERT_TRUE(glance_);
  EXPECT_EQ(since(world_->vmm), Instant(0));
  EXPECT_EQ(since(world_->shim), world_->clock.now());
}

TEST_F(Glancing, WatchesANewThreadForAWhile) {
  settle();
  glance_->look_at.reset();
  world_->clock.advance(std::chrono::seconds(10));
  EXPECT_FALSE(look().again);
  world_->proc.add_thread(world_->vmm, "worker");
  const auto first = look();
  ASSERT_TRUE(first.as_seen && first.again);
  EXPECT_LE(*first.again, world_->clock.now() + milliseconds(1));
  unsigned looks = 0;
  for (auto again = first.again; again; ++looks) {
    world_->clock.advance(*again - world_->clock.now());
    const auto next = look();
    ASSERT_TRUE(next.as_seen);
    again = next.again;
  }
  EXPECT_LT(looks, 30U);
}

TEST_F(Glancing, NothingIsKnownOfWhatIsNotInItsPlace) {
  SandboxWorld world{Scenario{}};
  world.boot();
  world.tree.on_operation([](const FakeWrite&) { return EACCES; });
  EXPECT_FALSE(glance_after(world.pass().result, world.clock));
}

}  // namespace
}  // namespace kcg::test
