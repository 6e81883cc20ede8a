// SPDX-License-Identifier: Apache-2.0
#include "plan/heals.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "support/sandbox_world.hpp"

namespace kcg::test {
namespace {

using namespace std::chrono_literals;

class Heals : public testing::Test {
 protected:
  void place(const Scenario& s) {
    world_.emplace(s);
    world_->boot();
    settle();
  }
  void settle() {
    (void)world_->pass();
    world_->end_jobs();
    (void)world_->pass();
  }
  /// Somebody moves one vCPU thread to the class `vmm`.
  void disturb() {
    world_->tree.outside([&](CgroupTree& tree) {
      ASSERT_TRUE(
          tree.write({"v2", CgroupPath::parse(world_->expected_sandbox_group() + "/vmm").value()},
                     "cgroup.threads", std::to_string(world_->vcpus.front())));
    });
  }
  [[nodiscard]] bool contested() const {
    return std::any_of(
        world_->record.conditions.begin(), world_->record.conditions.end(),
        [](const auto& c) { return c.condition.condition == ConditionName::contested; });
  }
  std::optional<SandboxWorld> world_;
};

Scenario plain() {
  Scenario s;
  s.strangers = 0;
  return s;
}

TEST_F(Heals, FiveWithinAMinuteAreHealedAtOnce) {
  place(plain());
  for (int i = 0; i < 5; ++i) {
    disturb();
    (void)world_->pass();
    EXPECT_EQ(world_->misplaced(), "");
  }
  EXPECT_FALSE(contested());
}

TEST_F(Heals, TheSixthIsContestedAndThenTriedSeldom) {
  place(plain());
  for (int i = 0; i < 6; ++i) {
    disturb();
    (void)world_->pass();
  }
  EXPECT_TRUE(contested());
  disturb();
  (void)world_->pass();
  EXPECT_NE(world_->misplaced(), "") << "not before the delay is over";
  world_->clock.advance(29s);
  (void)world_->pass();
  EXPECT_NE(world_->misplaced(), "");
  world_->clock.advance(1s);
  (void)world_->pass();
  EXPECT_EQ(world_->misplaced(), "");
}

TEST_F(Heals, TheDelayDoublesOnlyWhenSomebodyComesBack) {
  place(plain());
  for (int i = 0; i < 6; ++i) {
    disturb();
    (void)world_->pass();
  }
  const auto contested_delay = [&] {
    Instant longest{0};
    for (const auto& [key, heal] : world_->record.heals) longest = std::max(longest, heal.delay);
    return longest;
  };
  EXPECT_EQ(contested_delay(), 30s);
  world_->clock.advance(31s);
  (void)world_->pass();
  EXPECT_EQ(contested_delay(), 30s) << "nobody came back";
  for (const auto expected : {60s, 120s, 240s, 480s, 600s, 600s}) {
    disturb();
    (void)world_->pass();
    EXPECT_EQ(contested_delay(), expected);
    world_->clock.advance(expected);
  }
}

TEST_F(Heals, TenQuietMinutesEndIt) {
  place(plain());
  for (int i = 0; i < 6; ++i) {
    disturb();
    (void)world_->pass();
  }
  world_->clock.advance(30s + 10min);
  (void)world_->pass();
  EXPECT_TRUE(contested());
  world_->clock.advance(1s);
  (void)world_->pass();
  (void)world_->pass();
  EXPECT_FALSE(contested());
  EXPECT_EQ(world_->record.state, SandboxState::placed);
}

TEST_F(Heals, SlowDisturbanceIsNoContest) {
  place(plain());
  for (int i = 0; i < 20; ++i) {
    disturb();
    (void)world_->pass();
    world_->clock.advance(15s);
  }
  EXPECT_FALSE(contested());
}

TEST_F(Heals, KatasOwnPullBacksAreOrdinary) {
  for (const auto mode : {HierarchyMode::v1, HierarchyMode::v2}) {
    auto s = plain();
    s.mode = mode;
    s.kata_only = false;
    s.config.layout.sandbox_cgroup_only = true;
    place(s);
    for (int i = 0; i < 30; ++i) {
      world_->kata_pulls_back();
      (void)world_->pass();
      ASSERT_EQ(world_->misplaced(), "") << i;
    }
    EXPECT_FALSE(contested());
  }
}

TEST_F(Heals, AContestedVmmTakesItsThreadsAlong) {
  place(plain());
  for (int i = 0; i < 7; ++i) {
    world_->tree.outside([&](CgroupTree& tree) {
      ASSERT_TRUE(tree.write({"v2", CgroupPath::parse("/system.slice/containerd.service").value()},
                             "cgroup.procs", std::to_string(world_->vmm)));
    });
    (void)world_->pass();
  }
  EXPECT_TRUE(contested());
  (void)world_->plug_vcpu();
  world_->tree.clear_log();
  (void)world_->pass();
  for (const auto& write : world_->tree.log())
    EXPECT_NE(write.file, "cgroup.threads") << "a thread cannot leave its process behind";
}

TEST_F(Heals, AContestedLimit) {
  place(plain());
  const GroupRef vcpu{"v2", CgroupPath::parse(world_->expected_sandbox_group() + "/vcpu").value()};
  for (int i = 0; i < 7; ++i) {
    world_->tree.outside(
        [&](CgroupTree& tree) { ASSERT_TRUE(tree.write(vcpu, "cpu.max", "max 100000")); });
    (void)world_->pass();
  }
  EXPECT_TRUE(contested());
  EXPECT_EQ(world_->tree.read(vcpu, "cpu.max").value(), "max 100000");
}

}  // namespace
}  // namespace kcg::test
