// SPDX-License-Identifier: Apache-2.0
#include "pass/seen_groups.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <set>
#include <string>

#include "base/text.hpp"
#include "layout/layout.hpp"
#include "model/limit_files.hpp"
#include "support/sandbox_world.hpp"

namespace kcg::test {
namespace {

/// A sandbox in its place, of which a vCPU was plugged in since.
class GroupsSeen : public testing::Test {
 protected:
  void SetUp() override {
    world_.boot();
    for (int passes = 0; passes < 4; ++passes) (void)world_.pass();
    (void)world_.plug_vcpu();
    round_ = world_.look();
  }
  [[nodiscard]] bool as_seen() const { return kcg::as_seen(world_.tree, round_); }
  [[nodiscard]] GroupRef group_of_a_move() const {
    const auto& steps = round_.plan.steps;
    const auto move = std::find_if(steps.begin(), steps.end(),
                                   [](const Step& step) { return move_of(step) != nullptr; });
    return move->group;
  }
  [[nodiscard]] const Step* limit() const {
    const auto& steps = round_.plan.steps;
    const auto found =
        std::find_if(steps.begin(), steps.end(), [](const Step& s) { return is<op::Limit>(s); });
    return found == steps.end() ? nullptr : &*found;
  }
  void outside(const std::function<void(CgroupTree&)>& act) { world_.tree.outside(act); }

  SandboxWorld world_{Scenario{}};
  Round round_;
};

TEST_F(GroupsSeen, HoldWhereNothingButMovesAndWeightsFollowed) {
  EXPECT_FALSE(groups_hold(round_)) << "nothing was done";
  round_ = world_.pass().rounds.front();
  ASSERT_NE(limit(), nullptr) << "a vCPU more weighs more";
  EXPECT_TRUE(groups_hold(round_));
  const auto with = [&](const std::function<void(Round&)>& change) {
    auto other = round_;
    change(other);
    return groups_hold(other);
  };
  EXPECT_FALSE(with([](Round& r) { r.observed.pending = PendingJob{}; }));
  EXPECT_FALSE(with([](Round& r) { r.observed.gone = true; }));
  EXPECT_FALSE(with([](Round& r) { r.report.results.pop_back(); })) << "broken off";
  EXPECT_FALSE(with([&](Round& r) { r.observed.groups.erase(limit()->group); }));
  EXPECT_FALSE(with([&](Round& r) {
    for (auto& result : r.report.results)
      if (is<op::Limit>(result.step)) result.outcome = Outcome::failed;
  }));
  EXPECT_FALSE(with([&](Round& r) {
    r.plan.steps.push_back({group_of_a_move(), op::Remove{}});
    r.report.results.push_back({.step = r.plan.steps.back(), .text = ""});
  }));
}

std::set<std::string> controllers(const GroupState& group) {
  const auto text = group.file("cgroup.subtree_control").value_or("");
  const auto names = words(text);
  return {names.begin(), names.end()};
}

/// A group that was made has what the kernel puts into each, and what the round wrote.
TEST(GroupsMade, AreKnownWhereNothingElseFollowed) {
  for (const auto mode : {HierarchyMode::v1, HierarchyMode::v2}) {
    Scenario scenario;
    scenario.mode = mode;
    SandboxWorld world(scenario);
    world.confirm_after = std::chrono::milliseconds(20);
    world.start_shim();
    auto round = world.pass().rounds.front();
    ASSERT_TRUE(groups_hold(round));
    take_in_made(round);
    const auto now = world.observe();
    for (const auto& [ref, group] : now.groups) {
      const auto* known = round.observed.group(ref);
      ASSERT_NE(known, nullptr) << ref.path.str();
      EXPECT_EQ(known->mark, group.mark);
      EXPECT_EQ(known->file("cgroup.type"), group.file("cgroup.type"));
      EXPECT_EQ(controllers(*known), controllers(group));
    }
    const auto with = [&](const std::function<void(StepResult&)>& change) {
      auto other = round;
      const auto create =
          std::find_if(other.report.results.begin(), other.report.results.end(),
                       [](const StepResult& result) { return is<op::Create>(result.step); });
      change(*create);
      return groups_hold(other);
    };
    EXPECT_FALSE(with([](auto& create) { create.outcome = Outcome::failed; }));
    EXPECT_FALSE(with([](auto& create) { create.step.operation = op::Create{true}; }))
        << "one of many sandboxes";
    EXPECT_FALSE(with([](auto& create) {
      create.step.operation = op::Limit{{.key = "memory.max", .new_value = "1"}};
    })) << "it was there before";
    auto enabled = round;
    const GroupRef root{now.host.hierarchies.front().name, CgroupPath()};
    enabled.plan.steps.push_back({root, op::Enable{"cpu"}});
    enabled.report.results.push_back({.step = enabled.plan.steps.back(), .text = ""});
    EXPECT_FALSE(groups_hold(enabled)) << "what was there before has other files now";
  }
}

/// To ask for the watch of a group that has none wakes the loop for nothing.
TEST(GroupsMade, AreListenedToByNobodyYet) {
  SandboxWorld world(Scenario{});
  world.start_shim();
  world.start_vmm();
  world.start_threads();
  const auto round = world.pass().rounds.front();
  const auto& steps = round.plan.steps;
  ASSERT_TRUE(std::any_of(steps.begin(), steps.end(), [](const Step& step) {
    const auto* change = change_of(step);
    return change != nullptr && is_weight_file(change->key);
  }));
  EXPECT_TRUE(weights_heard(round).empty());
}

TEST_F(GroupsSeen, AreListenedToWhereAWeightIsWritten) {
  round_ = world_.pass().rounds.front();
  const auto heard = weights_heard(round_);
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_EQ(*heard.front(), *limit());
}

TEST_F(GroupsSeen, AreShownAsTheRoundLeftThem) {
  round_ = world_.pass().rounds.front();
  ASSERT_NE(limit(), nullptr);
  const auto key = change_of(*limit())->key;
  EXPECT_EQ(round_.observed.group(limit()->group)->file(key),
            world_.tree.read(limit()->group, key).value());
}

/// What a sandbox may use follows from other limits, and who is short of it is told.
TEST_F(GroupsSeen, DoNotHoldWhereAnotherLimitWasWritten) {
  round_ = world_.pass().rounds.front();
  ASSERT_TRUE(groups_hold(round_));
  const op::Limit memory{{.key = "memory.max", .new_value = "1"}};
  for (auto& result : round_.report.results)
    if (is<op::Limit>(result.step)) result.step.operation = memory;
  EXPECT_FALSE(groups_hold(round_));
}

TEST_F(GroupsSeen, AreHeldAgainstTheKernelBeforeSomethingIsDone) {
  EXPECT_TRUE(as_seen());
  const auto changed = *limit();
  outside([&](CgroupTree& tree) {
    ASSERT_TRUE(tree.write(changed.group, change_of(changed)->key, "77"));
  });
  EXPECT_FALSE(as_seen()) << "somebody has written it meanwhile";
  round_ = world_.look();
  EXPECT_TRUE(as_seen());
  outside([&](CgroupTree& tree) { ASSERT_TRUE(tree.clear_mark(group_of_a_move())); });
  EXPECT_FALSE(as_seen()) << "it is ours no more";
}

TEST_F(GroupsSeen, DecideNothingButMovesAndLimits) {
  round_.between.steps.push_back({group_of_a_move(), op::Remove{}});
  EXPECT_FALSE(as_seen());
  round_.between.steps.pop_back();
  round_.observed.gone = true;
  EXPECT_FALSE(as_seen());
}

}  // namespace
}  // namespace kcg::test
