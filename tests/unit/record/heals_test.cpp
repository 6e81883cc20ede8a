// SPDX-License-Identifier: Apache-2.0
#include "record/heals.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "support/fake_tree.hpp"
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
    const auto counts = world_->record.heals.counts();
    for (const auto& [key, heal] : counts) longest = std::max(longest, heal.contest->delay);
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

TEST_F(Heals, OfATaskThatIsLeftInPeaceNothingIsRemembered) {
  place(plain());
  disturb();
  (void)world_->pass();
  const auto tasks = [&] {
    const auto counts = world_->record.heals.counts();
    return std::count_if(counts.begin(), counts.end(),
                         [](const auto& one) { return one.second.hierarchy.str().empty(); });
  };
  EXPECT_GT(tasks(), 0);
  for (int i = 0; i < 3; ++i) {  // it takes a look to see that nobody came back
    world_->clock.advance(61s);
    (void)world_->pass();
  }
  EXPECT_EQ(tasks(), 0);
}

TEST_F(Heals, SlowDisturbanceIsNoContest) {
  place(plain());
  for (int i = 0; i < 20; ++i) {
    disturb();
    (void)world_->pass();
    world_->clock.advance(15s);
    (void)world_->pass();  // it stayed where we put it
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

// --- sequences of looks at one file --------------------------------------------------------------

/// Value: what one pass finds and wants. An empty `found`: the file could not be read.
struct Look {
  const char* found;
  const char* wanted;
  int seconds = 1;  ///< since the one before
};
struct LookRow {
  const char* name;
  std::vector<Look> looks;
  bool contested;
};

/// A pass as the daemon makes it: a round that writes, and one that finds nothing more to do.
class Sequence final {
 public:
  Sequence() {
    observed_.host = fake_host_v2();
    observed_.inputs.id = SandboxId::parse("S").value();
    GroupState state;
    state.ref = group_;
    state.mark = "S";
    observed_.groups[group_] = state;
  }
  void look(const Look& look) {
    now_ += std::chrono::seconds(look.seconds);
    if (std::string(look.found) == look.wanted) return count({}, 1);
    Plan plan;
    plan.steps.push_back({group_, op::Limit{{"cpu.max", look.found, look.wanted}}});
    plan = without_contested(plan, record_, observed_, now_);
    Report report;
    for (const auto& left : plan.steps) report.results.emplace_back().step = left;
    writes_ += static_cast<int>(report.results.size());
    count(report, 1);
    if (!report.results.empty()) count({}, 2);
  }
  void remake() {
    Report report;
    report.results.emplace_back().step = {group_, op::Create{}};
    count(report, 1);
  }
  [[nodiscard]] bool contested() const { return contest_condition(record_).has_value(); }
  [[nodiscard]] int writes() const { return writes_; }
  [[nodiscard]] const Record& record() const { return record_; }
  [[nodiscard]] std::string text() const { return contest_condition(record_)->text; }
  [[nodiscard]] std::optional<Instant> wake() const { return record_.heals.wake(now_); }
  [[nodiscard]] Instant now() const { return now_; }
  Observed observed_;

 private:
  void count(const Report& report, unsigned round) {
    count_heals(record_, observed_, report, round, now_);
  }
  GroupRef group_{"v2", CgroupPath::parse("/p/kata-sandbox-S/vcpu").value()};
  Record record_;
  Instant now_{100s};
  int writes_ = 0;
};

std::vector<Look> times(int count, std::vector<Look> looks) {
  std::vector<Look> all;
  for (int i = 0; i < count; ++i) all.insert(all.end(), looks.begin(), looks.end());
  return all;
}
std::vector<Look> after(std::vector<Look> first, const std::vector<Look>& then) {
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

const LookRow kLookRows[] = {
    {"containers_start_one_a_second",
     {{"", "1"},
      {"1", "2"},
      {"2", "3"},
      {"3", "4"},
      {"4", "5"},
      {"5", "6"},
      {"6", "7"},
      {"7", "8"},
      {"8", "9"},
      {"9", "10"}},
     false},
    {"a_crash_loop", times(20, {{"2", "1"}, {"1", "2"}}), false},
    {"the_kubelet_takes_turns_with_a_stranger", times(8, {{"1", "2"}, {"9", "1"}}), false},
    {"rewritten_each_second", after({{"0", "1"}}, times(6, {{"9", "1"}})), true},
    {"five_times", after({{"0", "1"}}, times(5, {{"9", "1"}})), false},
    {"rewritten_each_second_and_heard_of",
     after({{"0", "1"}}, times(6, {{"1", "1", 0}, {"9", "1"}})), true},
    {"seen_only_by_the_resync", after({{"0", "1"}}, times(6, {{"9", "1", 30}})), true},
    {"five_resyncs", after({{"0", "1"}}, times(5, {{"9", "1", 30}})), false},
    {"now_and_then", after({{"0", "1"}}, times(20, {{"9", "1", 20}, {"1", "1", 20}})), false},
    {"once_an_hour", after({{"0", "1"}}, times(20, {{"9", "1", 3600}})), false},
    {"different_strangers", after({{"0", "1"}}, times(3, {{"8", "1"}, {"9", "1"}})), true},
    {"nothing_is_known_to_be_written", times(1, {{"9", "1"}}), false},
    {"a_file_that_cannot_be_read", after({{"0", "1"}}, times(20, {{"", "1"}})), false},
    {"a_changed_wish_ends_it", after({{"0", "1"}}, after(times(6, {{"9", "1"}}), {{"9", "2"}})),
     false},
};
class Looks : public testing::TestWithParam<LookRow> {};
TEST_P(Looks, AreAContestOrNot) {
  Sequence sequence;
  for (const auto& look : GetParam().looks) sequence.look(look);
  EXPECT_EQ(sequence.contested(), GetParam().contested);
}
INSTANTIATE_TEST_SUITE_P(Heals, Looks, testing::ValuesIn(kLookRows),
                         [](const auto& row) { return row.param.name; });

TEST(Contest, IsLeftAloneForGrowingTimesAndWokenForEachTry) {
  Sequence sequence;
  sequence.look({"0", "1"});
  for (int i = 0; i < 6; ++i) sequence.look({"9", "1"});
  EXPECT_EQ(sequence.writes(), 7);
  EXPECT_EQ(sequence.text(),
            "cpu.max of /p/kata-sandbox-S/vcpu: somebody else writes '9' again and again where '1' "
            "was written; it is left alone for 30 s");
  EXPECT_EQ(sequence.wake(), sequence.now() + 30s);
  for (int i = 0; i < 29; ++i) sequence.look({"9", "1"});
  EXPECT_EQ(sequence.writes(), 7);
  sequence.look({"9", "1"});
  EXPECT_EQ(sequence.writes(), 8);
  EXPECT_EQ(sequence.wake(), sequence.now() + 60s);
}

/// systemd may not have written it yet, so only what was seen held can be undone.
TEST(Contest, WhatIsLeftAloneWasNotSeenHeld) {
  Sequence sequence;
  sequence.look({"0", "1"});
  for (int i = 0; i < 7; ++i) sequence.look({"9", "1"});
  EXPECT_EQ(sequence.writes(), 7);
  const auto counts = sequence.record().heals.counts();
  EXPECT_FALSE(counts.begin()->second.held);
}

TEST(Contest, AChangedWishIsWrittenAtOnce) {
  Sequence sequence;
  sequence.look({"0", "1"});
  for (int i = 0; i < 6; ++i) sequence.look({"9", "1"});
  sequence.look({"9", "2"});
  EXPECT_EQ(sequence.writes(), 8);
  EXPECT_FALSE(sequence.wake());
}

TEST(Contest, GoesWithItsGroup) {
  Sequence sequence;
  sequence.look({"0", "1"});
  for (int i = 0; i < 4; ++i) sequence.look({"9", "1"});
  sequence.remake();
  EXPECT_TRUE(sequence.record().heals.counts().empty());
  for (int i = 0; i < 5; ++i) sequence.look({"9", "1"});
  EXPECT_FALSE(sequence.contested());
  sequence.observed_.groups.clear();
  sequence.look({"1", "1"});
  EXPECT_TRUE(sequence.record().heals.counts().empty());
}

}  // namespace
}  // namespace kcg::test
