// SPDX-License-Identifier: Apache-2.0
#include "pass/reconsider.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <utility>

#include "pass/glance.hpp"
#include "support/sandbox_world.hpp"

namespace kcg::test {
namespace {

/// A sandbox in its place, and what the last look at it has left.
class Reconsidering : public testing::Test {
 protected:
  void settle(const Scenario& scenario) {
    world_.emplace(scenario);
    world_->boot();
    for (int passes = 0; passes < 3; ++passes) look();
    ASSERT_TRUE(world_->record.fixed);
  }
  void look() {
    last_ = last_look(world_->pass().last(), world_->record, world_->assembled.conditions);
  }
  [[nodiscard]] bool still_wanted() {
    auto& w = *world_;
    return kcg::still_wanted(w.scenario.config, w.assembled, *last_, w.record);
  }

  std::optional<SandboxWorld> world_;
  std::optional<LastLook> last_;
};

struct Word {
  const char* what;
  std::function<void(SandboxWorld&)> happens;
  bool still_wanted;
};

KataState& kata(SandboxWorld& world) { return *world.assembled.inputs.kata; }

TEST_F(Reconsidering, AsksWhetherTheLastLookWouldHaveDoneTheSame) {
  const Word cases[] = {
      {"nothing", [](auto&) {}, true},
      {"another state of its life", [](auto& w) { kata(w).state = "paused"; }, true},
      {"where it was read", [](auto& w) { kata(w).file = "/run/vc/sbs/x/persist.json"; }, true},
      {"a container that counts for nothing", [](auto& w) { kata(w).stopped.insert("none"); },
       true},
      {"a container that has stopped",
       [](auto& w) { kata(w).stopped.insert(w.assembled.inputs.containers.front().id); }, false},
      {"memory that was plugged in", [](auto& w) { kata(w).hotplugged_memory_mib = 520; }, false},
      {"what its VMM says as well", [](auto& w) { kata(w).boot_memory_mib = 64; }, true},
      {"that the VMM lives elsewhere", [](auto& w) { kata(w).hypervisor = "remote"; }, false},
      {"that it is over", [](auto& w) { w.assembled.inputs.kata.reset(); }, false},
      {"more than Kata's word", [](auto& w) { w.assembled.inputs.containers.clear(); }, false},
      {"that something cannot be read",
       [](auto& w) {
         w.assembled.conditions.push_back({ConditionName::bundle_unreadable, "half-written"});
       },
       false},
  };
  for (const auto& one : cases) {
    Scenario scenario;
    scenario.config.sizing.memory = MemorySizing::always;
    settle(scenario);
    one.happens(*world_);
    EXPECT_EQ(still_wanted(), one.still_wanted) << one.what;
    if (!one.still_wanted) continue;
    EXPECT_EQ(last_->observed.inputs, world_->assembled.inputs) << one.what;
    EXPECT_TRUE(still_wanted()) << one.what;
  }
}

TEST_F(Reconsidering, ThereIsNoAnswerWithoutAVmmOfItsOwn) {
  settle({});
  world_->record.vmm.ended = world_->clock.now();
  EXPECT_FALSE(still_wanted()) << "Kata says whether that was meant";
  settle({});
  kata(*world_).hypervisor = "dragonball";
  look();
  EXPECT_FALSE(still_wanted());
  settle({});
  world_->end_vmm();
  look();
  world_->record.vmm.ended.reset();
  EXPECT_FALSE(still_wanted());
}

/// A guest can make its VMM have thousands.
TEST_F(Reconsidering, SoManyThreadsAreNotKept) {
  settle({});
  ASSERT_TRUE(last_);
  while (world_->proc.tids(world_->vmm)->size() <= kMostGlanced)
    world_->proc.add_thread(world_->vmm, "worker");
  look();
  EXPECT_FALSE(last_);
}

/// The look that fixed it knew nothing of that yet.
TEST_F(Reconsidering, WhatKataSaysOfALayoutThatIsFixedIsNothing) {
  world_.emplace(Scenario{});
  kata(*world_).sandbox_cgroup_only.reset();
  world_->confirm_after = std::chrono::milliseconds(20);
  world_->boot();
  look();
  ASSERT_TRUE(world_->record.fixed);
  kata(*world_).sandbox_cgroup_only = true;
  EXPECT_TRUE(still_wanted());
}

/// Kata's state goes before its groups do: then the end of its VMM was meant.
TEST_F(Reconsidering, ThatKataHasStateIsRemembered) {
  Scenario scenario;
  world_.emplace(scenario);
  const auto said = std::exchange(world_->assembled.inputs.kata, std::nullopt);
  world_->boot();
  for (int passes = 0; passes < 3; ++passes) look();
  ASSERT_FALSE(world_->record.vmm.state_seen);
  world_->assembled.inputs.kata = said;
  EXPECT_TRUE(still_wanted());
  EXPECT_TRUE(world_->record.vmm.state_seen);
}

}  // namespace
}  // namespace kcg::test
