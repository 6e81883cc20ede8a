// SPDX-License-Identifier: Apache-2.0
#include "pass/pass.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <utility>

#include "pass/glance.hpp"
#include "support/sandbox_world.hpp"

namespace kcg::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

bool complains(const Record& record, ConditionName name) {
  return std::any_of(record.conditions.begin(), record.conditions.end(),
                     [&](const ActiveCondition& one) { return one.condition.condition == name; });
}

TEST(Pass, AFailureIsTriedAgainLaterAndLater) {
  SandboxWorld world(Scenario{});
  world.boot();
  world.tree.on_operation([](const FakeWrite&) -> int { throw std::runtime_error("always"); });
  Instant before{0};
  for (int i = 0; i < 20; ++i) {
    const auto pass = world.pass();
    EXPECT_FALSE(pass.result.last);
    ASSERT_TRUE(pass.result.failed_step);
    EXPECT_EQ(pass.result.failed_step->text, "always");
    const auto delay = *pass.follow_up.retry_at - world.clock.now();
    EXPECT_GE(delay, std::max<Instant>(before, seconds(1)));
    EXPECT_LE(delay, minutes(5));
    before = delay;
    EXPECT_TRUE(complains(world.record, ConditionName::pass_failed));
    EXPECT_EQ(world.record.conditions.size(), 1U);
  }
  EXPECT_EQ(before, minutes(5));
  world.tree.on_operation({});
  (void)world.pass();
  EXPECT_FALSE(complains(world.record, ConditionName::pass_failed));
  EXPECT_EQ(world.failures, 0U);
  EXPECT_EQ(world.misplaced(), "");
}

/// A sandbox in Kata's scope, with a thread of the kernel's that was made there.
struct InKatasScope {
  explicit InKatasScope(const std::function<std::string(Pid vmm)>& comm) : world(nested()) {
    world.boot();
    worker = world.proc.start(2, {comm(world.vmm), "", {}});
    world.proc.process(worker).kernel_thread = true;
    world.tree.outside([&](CgroupTree& tree) {
      EXPECT_TRUE(tree.write(scope(), "cgroup.procs", std::to_string(worker)));
    });
    for (int i = 0; i < 3; ++i) (void)world.pass();
  }
  static Scenario nested() {
    Scenario scenario;
    scenario.systemd = true;
    return scenario;
  }
  [[nodiscard]] GroupRef scope() const {
    return {"v2", CgroupPath::parse(world.kata_group).value()};
  }
  [[nodiscard]] std::string enabled() {
    return world.tree.read(scope(), "cgroup.subtree_control").value();
  }

  SandboxWorld world;
  Pid worker = 0;
};

TEST(Pass, TakesAlongWhatTheKernelMadeForAVmm) {
  for (const auto& [prefix, cls] :
       {std::pair{"vhost-", "/io"}, std::pair{"kvm-nx-lpage-recovery-", "/vmm"}}) {
    InKatasScope one(
        [begin = std::string(prefix)](Pid vmm) { return begin + std::to_string(vmm); });
    EXPECT_EQ(one.world.tree.group_of(one.worker, "v2"), one.world.expected_sandbox_group() + cls);
    EXPECT_NE(one.enabled().find("memory"), std::string::npos);
    EXPECT_TRUE(one.world.look().plan.steps.empty());
  }
}

TEST(Pass, AKernelThreadThatIsNobodysKeepsTheControllersOff) {
  InKatasScope one([](Pid) { return "vhost-1"; });
  EXPECT_EQ(one.world.tree.group_of(one.worker, "v2"), one.world.kata_group);
  EXPECT_EQ(one.enabled(), "");
  EXPECT_TRUE(complains(one.world.record, ConditionName::foreign_process));
}

TEST(Pass, LooksAgainForAStrangerToLeaveWhichNobodyTells) {
  InKatasScope one([](Pid) { return "vhost-1"; });
  auto& world = one.world;
  const auto next = world.pass().follow_up.look_at;
  ASSERT_TRUE(next);
  EXPECT_LE(*next, world.clock.now() + milliseconds(500));
  world.proc.exit_process(one.worker);
  world.clock.advance(*next - world.clock.now());
  for (int i = 0; i < 3; ++i) (void)world.pass();
  EXPECT_NE(one.enabled().find("memory"), std::string::npos);
  EXPECT_FALSE(complains(world.record, ConditionName::foreign_process));
  EXPECT_FALSE(world.record.unrest->strangers_since);
}

TEST(Pass, TellsTheFirstStepThatFailed) {
  SandboxWorld world(Scenario{});
  world.boot();
  world.tree.on_operation([](const FakeWrite&) { return EACCES; });
  const auto pass = world.pass();
  EXPECT_EQ(pass.result.steps, 0U);
  ASSERT_TRUE(pass.result.failed_step);
  EXPECT_NE(pass.result.failed_step->text.find("Permission denied"), std::string::npos)
      << pass.result.failed_step->text;
}

TEST(Pass, LeavesItForLaterToSeeWhetherAnythingIsLeft) {
  SandboxWorld world(Scenario{});
  world.boot();
  world.confirm_after = milliseconds(20);
  const auto pass = world.pass();
  ASSERT_EQ(pass.rounds.size(), 1U);
  EXPECT_FALSE(pass.last().plan.steps.empty());
  EXPECT_EQ(pass.follow_up.retry_at, world.clock.now() + milliseconds(20));
  EXPECT_EQ(pass.follow_up.look_at, pass.follow_up.retry_at) << "groups were made";
  EXPECT_TRUE(glance_after(pass.result, world.clock));
  EXPECT_EQ(world.misplaced(), "");
}

/// Kata has enabled the controllers, as it does, so that all that is in what was made is known.
TEST(Pass, LeavesItToAGlanceWhetherWhatWasMadeHolds) {
  for (const auto mode : {HierarchyMode::v1, HierarchyMode::v2}) {
    Scenario scenario;
    scenario.mode = mode;
    SandboxWorld world(scenario);
    world.boot();
    world.offer_controllers("/kubepods/burstable/pod1");
    world.confirm_after = milliseconds(20);
    const auto pass = world.pass();
    ASSERT_EQ(pass.rounds.size(), 1U);
    EXPECT_EQ(pass.follow_up.confirm_at, world.clock.now() + milliseconds(20));
    EXPECT_NE(pass.follow_up.look_at, pass.follow_up.confirm_at);
    EXPECT_EQ(world.misplaced(), "");
    EXPECT_TRUE(world.look().plan.steps.empty());
  }
}

/// Whoever is born before his parent is moved is where the parent was.
TEST(Pass, LooksAgainWhereSomebodyWasBornAsGroupsWereMade) {
  SandboxWorld world(Scenario{});
  world.boot();
  world.offer_controllers("/kubepods/burstable/pod1");
  world.confirm_after = milliseconds(20);
  Pid child = 0;
  world.tree.on_operation([&](const FakeWrite& write) {
    if (child == 0 && write.file == "cgroup.procs")
      child = world.proc.start(world.shim, {"c", "/c", {"c"}});
    return 0;
  });
  const auto pass = world.pass();
  EXPECT_NE(child, 0);
  EXPECT_EQ(pass.follow_up.look_at, world.clock.now() + milliseconds(20));
}

TEST(Pass, LeavesItToAGlanceWhetherMovesHold) {
  SandboxWorld world(Scenario{});
  world.boot();
  (void)world.pass();  // ignored: it makes the groups
  world.all_taken_back();
  world.confirm_after = milliseconds(20);
  const auto pass = world.pass();
  ASSERT_EQ(pass.rounds.size(), 1U);
  EXPECT_FALSE(pass.last().plan.steps.empty());
  EXPECT_EQ(pass.follow_up.confirm_at, world.clock.now() + milliseconds(20));
  EXPECT_LE(pass.follow_up.retry_at, pass.follow_up.confirm_at);
  EXPECT_GT(pass.follow_up.look_at.value_or(Instant::max()), *pass.follow_up.confirm_at);
  EXPECT_EQ(world.misplaced(), "");
}

TEST(Pass, LooksAgainAtOnceWhereNotAllWasDone) {
  SandboxWorld world(Scenario{});
  world.boot();
  world.confirm_after = milliseconds(20);
  bool failed = false;
  world.tree.on_operation(
      [&](const FakeWrite&) { return std::exchange(failed, true) ? 0 : EBUSY; });
  const auto pass = world.pass();
  EXPECT_GT(pass.rounds.size(), 1U);
  EXPECT_EQ(world.misplaced(), "");
}

/// Kata's scope takes controllers when nobody is in it any more, and then there are limits to set.
TEST(Pass, LooksAgainAtOnceWhereMoreFollows) {
  Scenario scenario;
  scenario.systemd = true;
  SandboxWorld world(scenario);
  world.boot();
  world.confirm_after = milliseconds(20);
  const auto pass = world.pass();
  EXPECT_GT(pass.rounds.size(), 1U);
  const GroupRef scope{"v2", CgroupPath::parse(world.kata_group).value()};
  EXPECT_NE(world.tree.read(scope, "cgroup.subtree_control").value().find("memory"),
            std::string::npos);
  EXPECT_EQ(world.look().plan, Plan{});
}

class BirthsTold : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Pass, BirthsTold, ::testing::Bool());

TEST_P(BirthsTold, LooksAgainAtOnceWhereSomebodyWasBornMeanwhile) {
  SandboxWorld world(Scenario{});
  world.proc.tell_births(GetParam());
  world.boot();
  (void)world.pass();  // ignored: it makes the groups, which another look follows
  world.all_taken_back();
  world.confirm_after = milliseconds(20);
  Pid child = 0;
  world.tree.on_operation([&](const FakeWrite& write) {
    if (child != 0 || write.file != "cgroup.procs") return 0;
    const auto program = "/opt/kata/libexec/virtiofsd";
    child = world.proc.start(
        world.shim, {"virtiofsd",
                     program,
                     {program, "--shared-dir",
                      "/run/kata-containers/shared/sandboxes/" + world.scenario.id + "/shared"}});
    return 0;
  });
  const auto pass = world.pass();
  ASSERT_NE(child, 0);
  EXPECT_GT(pass.rounds.size(), 1U);
  EXPECT_TRUE(world.tree.group_of(child, "v2").ends_with("/io"));
}

/// How many are asked for children after the moves of a look; `before`: what happens before it.
std::size_t asked_after_moves(const std::function<void(SandboxWorld&)>& before) {
  SandboxWorld world(Scenario{});
  world.boot();
  (void)world.pass();  // ignored: it makes the groups
  world.all_taken_back();
  world.confirm_after = milliseconds(20);
  before(world);
  bool written = false;
  world.tree.on_operation([&](const FakeWrite&) {
    if (!std::exchange(written, true)) world.proc.clear_looks();
    return 0;
  });
  EXPECT_EQ(world.pass().rounds.size(), 1U);
  EXPECT_TRUE(written);
  return world.proc.walked().size();
}

TEST(Pass, AsksNoOneForChildrenWhereNobodyWasBorn) {
  EXPECT_EQ(asked_after_moves([](SandboxWorld&) {}), 0U);
  EXPECT_GT(asked_after_moves([](SandboxWorld& world) { world.proc.tell_births(false); }), 0U);
}

/// A VMM starts its threads while it is looked at.
TEST(Pass, AsksNoOneForChildrenWhereTheLookHasSeenWhoWasBorn) {
  const auto threads = [](SandboxWorld& world, bool others) {
    world.proc.meanwhile([&world, others] {
      (void)world.proc.add_thread(world.vmm, "");
      if (others) (void)world.proc.start(1, {"sleep", "/bin/sleep", {"sleep", "1"}});
      (void)world.proc.add_thread(world.vmm, "");
    });
  };
  EXPECT_EQ(asked_after_moves([&](SandboxWorld& world) { threads(world, false); }), 0U);
  EXPECT_GT(asked_after_moves([&](SandboxWorld& world) { threads(world, true); }), 0U);
}

TEST(Pass, WritesNothingInObserveMode) {
  Scenario scenario;
  scenario.config.mode = Mode::observe;
  SandboxWorld world(scenario);
  world.boot();
  world.tree.clear_log();
  const auto pass = world.pass();
  EXPECT_FALSE(pass.last().plan.steps.empty());
  EXPECT_EQ(pass.last().report.results.size(), pass.last().plan.steps.size());
  EXPECT_TRUE(world.tree.log().empty());
  EXPECT_FALSE(world.context.creation_recorded);
}

/// Turns of 10 ms until the pass is done, at most 50; `longest` is what one of them may take.
unsigned in_turns(SandboxWorld& world, milliseconds longest,
                  const std::function<void(unsigned)>& told = {}) {
  auto order = world.order();
  order.slice = milliseconds(10);
  unsigned turns = 0;
  for (bool more = true; more && turns < 50; ++turns) {
    const auto began = world.clock.now();
    const auto result = run_pass({world.tree, world.proc, world.clock, world.manager, world.notes},
                                 order, world.record);
    EXPECT_LE(world.clock.now() - began, longest) << "turn " << turns;
    if (told) told(turns);
    more = result.unfinished;
    order.so_far = result.so_far;
  }
  EXPECT_LT(turns, 50U);
  return turns;
}

/// Each operation takes a millisecond: a VMM of many threads comes in turns, and all are placed.
TEST(Pass, BreaksOffWhenItsSliceIsOver) {
  Scenario scenario;
  scenario.vcpus = 500;
  SandboxWorld world(scenario);
  world.boot();
  world.tree.on_operation([&](const FakeWrite&) {
    world.clock.advance(milliseconds(1));
    return 0;
  });
  const auto turns = in_turns(world, milliseconds(70), [&](unsigned turn) {
    // Whether all that was made is marked is not known yet.
    EXPECT_TRUE(turn > 0 || world.notes.creation_noted(world.assembled.inputs.id));
  });
  EXPECT_FALSE(world.notes.creation_noted(world.assembled.inputs.id));
  EXPECT_GE(turns, 5U);
  EXPECT_EQ(world.misplaced(), "");
  EXPECT_FALSE(complains(world.record, ConditionName::threads_unsettled));
}

/// Each read of a thread takes a millisecond: nobody waits for all of them.
TEST(Pass, ReadsManyThreadsInTurns) {
  Scenario scenario;
  scenario.vcpus = 100;
  SandboxWorld world(scenario);
  world.boot();
  (void)world.pass();
  ASSERT_EQ(world.misplaced(), "");
  for (int i = 0; i < 100; ++i) (void)world.proc.add_thread(world.vmm, "worker");
  world.proc.on_read([&] {
    world.clock.advance(milliseconds(1));
    return 0;
  });
  EXPECT_GE(in_turns(world, milliseconds(60)), 20U);
  EXPECT_EQ(world.misplaced(), "");
}

/// Nobody has heard of its start.
TEST(Pass, ReadsTheThreadsOfAVmmThatIsNotProvenYetInTurns) {
  Scenario scenario;
  scenario.vcpus = 100;
  SandboxWorld world(scenario);
  world.start_shim();
  (void)world.pass();  // ignored: the shim is known from now on
  world.clock.advance(seconds(3));
  world.start_vmm();
  for (int i = 0; i < 100; ++i) (void)world.proc.add_thread(world.vmm, "worker");
  world.proc.on_read([&] {
    world.clock.advance(milliseconds(1));
    return 0;
  });
  auto order = world.order();
  order.slice = milliseconds(10);
  const auto first = run_pass({world.tree, world.proc, world.clock, world.manager, world.notes},
                              order, world.record);
  EXPECT_TRUE(first.unfinished);
  EXPECT_FALSE(first.last) << "it was read for a turn, and not looked at yet";
}

/// A guest that starts a thread whenever one is placed.
TEST(Pass, EndsAlthoughThreadsGoOnStarting) {
  Scenario scenario;
  scenario.vcpus = 200;
  SandboxWorld world(scenario);
  world.boot();
  std::size_t count = 0;
  world.tree.on_operation([&](const FakeWrite&) {
    world.clock.advance(milliseconds(1));
    if (++count % 2 == 0) (void)world.proc.add_thread(world.vmm);
    return 0;
  });
  (void)in_turns(world, seconds(1));
}

}  // namespace
}  // namespace kcg::test
