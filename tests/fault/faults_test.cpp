// SPDX-License-Identifier: Apache-2.0
//
// The k-th kernel operation fails, for every k and every errno that a kernel may answer: the pass
// ends, nothing is written where it must not be, and once the fault is over all ends well.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <stdexcept>
#include <string_view>

#include "fault/scenarios.hpp"

namespace kcg::test {
namespace {

constexpr int kCodes[] = {ENOENT, EBUSY, ENOSPC, EINVAL, ESRCH, EACCES, EOPNOTSUPP, ENODEV, EAGAIN};

/// What a read answers of something that exists.
constexpr int kReadCodes[] = {EMFILE, ENFILE, ENOMEM, EACCES, EIO};

class Faults : public ::testing::TestWithParam<FaultRow> {};

/// Passes as timers and the resync make them, until nothing is left to do.
void settle(SandboxWorld& world) {
  for (int i = 0; i < 8; ++i) {
    const auto pass = judged_pass(world);
    if (pass.last().plan.steps.empty() && !pass.last().observed.pending) return;
    world.clock.advance(std::chrono::seconds(30));
  }
}

TEST_P(Faults, WhilePlacing) {
  for (const int code : kCodes) {
    for (std::size_t k = 1;; ++k) {
      SCOPED_TRACE(fmt::format("operation {} fails: {}", k, errno_text(code)));
      SandboxWorld world(GetParam().scenario);
      world.boot();
      world.tree.fail_operation(k, code);
      (void)judged_pass(world);
      (void)judged_pass(world);
      const bool over = world.tree.log().size() < k;
      settle(world);
      EXPECT_EQ(world.misplaced(), "");
      EXPECT_EQ(describe(world.look().plan), "");
      EXPECT_EQ(world.record.state, SandboxState::placed);
      for (const auto& active : world.record.conditions)
        EXPECT_EQ(info(active.condition.condition).severity, Severity::info)
            << active.condition.text;
      if (HasFailure() || over) break;
    }
    if (HasFailure()) break;
  }
}

TEST_P(Faults, WhilePlacingAfterARestart) {
  for (std::size_t k = 1;; ++k) {
    SCOPED_TRACE(fmt::format("operation {} fails, then the daemon is started again", k));
    SandboxWorld world(GetParam().scenario);
    world.boot();
    // From the k-th operation on all fail: as if the daemon had been killed there.
    std::size_t count = 0;
    world.tree.on_operation([&](const FakeWrite&) { return ++count < k ? 0 : EINTR; });
    (void)judged_pass(world);
    (void)judged_pass(world);  // the first one may only have asked systemd
    const bool over = count < k;
    world.tree.on_operation({});
    world.restart_daemon();
    settle(world);
    EXPECT_EQ(world.misplaced(), "");
    EXPECT_EQ(describe(world.look().plan), "");
    if (HasFailure() || over) break;
  }
}

/// What nobody has thought of: an exception in the midst of a pass is that sandbox's condition, and
/// over with the next good pass.
TEST_P(Faults, AnExceptionAtAnyOperation) {
  for (std::size_t k = 1;; ++k) {
    SCOPED_TRACE(fmt::format("operation {} throws", k));
    SandboxWorld world(GetParam().scenario);
    world.boot();
    std::size_t count = 0;
    world.tree.on_operation([&](const FakeWrite&) {
      if (++count == k) throw std::runtime_error("nobody has thought of this");
      return 0;
    });
    bool failed = false;
    for (int i = 0; i < 2 && !failed; ++i) {  // the first one may only have asked systemd
      const auto pass = world.pass();
      failed = !pass.result.last;
      if (failed) {
        EXPECT_EQ(pass.follow_up.retry_at, world.clock.now() + std::chrono::seconds(1));
        EXPECT_FALSE(pass.follow_up.forget);
      }
      world.end_jobs();
    }
    const bool over = count < k;
    EXPECT_EQ(failed, !over);
    if (!over) {
      const auto& conditions = world.record.conditions;
      ASSERT_FALSE(conditions.empty());
      EXPECT_EQ(conditions.back().condition.condition, ConditionName::pass_failed);
      EXPECT_NE(conditions.back().condition.text.find("nobody has thought"), std::string::npos);
      EXPECT_EQ(world.record.state, SandboxState::degraded);
    }
    settle(world);
    EXPECT_EQ(world.misplaced(), "");
    EXPECT_EQ(world.record.state, SandboxState::placed);
    for (const auto& active : world.record.conditions)
      EXPECT_EQ(info(active.condition.condition).severity, Severity::info) << active.condition.text;
    if (HasFailure() || over) break;
  }
}

TEST_P(Faults, WhileRemoving) {
  for (const int code : kCodes) {
    for (std::size_t k = 1;; ++k) {
      SCOPED_TRACE(fmt::format("operation {} fails: {}", k, errno_text(code)));
      SandboxWorld world(GetParam().scenario);
      world.boot();
      settle(world);
      world.end_all();
      world.kata_cleans_up();
      world.systemd.collect_empty_scopes();
      world.record.ended = world.clock.now();
      world.clock.advance(
          std::chrono::seconds(5));  // what stands in scopes was systemd's to remove
      world.tree.clear_log();
      world.tree.fail_operation(k, code);
      (void)judged_pass(world);
      (void)judged_pass(world);
      const bool over = world.tree.log().size() < k;
      settle(world);
      EXPECT_EQ(world.marked_groups(), std::vector<std::string>{});
      EXPECT_TRUE(judged_pass(world).follow_up.forget);
      if (HasFailure() || over) break;
    }
    if (HasFailure()) break;
  }
}

/// Steps after which something is less than before.
bool takes_away(const Step& step, const Observed& observed) {
  if (is<op::Remove>(step)) return true;
  const auto* change = change_of(step);
  if (change == nullptr || is<op::Seed>(step)) return false;
  const auto* now = observed.group(step.group);
  return now == nullptr || now->file(change->key) != change->new_value;
}

/// The k-th read fails, once or from then on; the daemon remembers the sandbox, or was just
/// started.
class ReadFaults : public ::testing::TestWithParam<FaultRow> {
 protected:
  /// Passes with the fault; true when it struck at all.
  bool struck(SandboxWorld& world, std::size_t k, int code, bool lasting) {
    const auto before = world.marked_groups();
    std::size_t count = 0;
    const auto hook = [&]() -> int {
      ++count;
      return count == k || (lasting && count > k) ? code : 0;
    };
    world.tree.on_read(hook);
    world.proc.on_read(hook);
    for (int i = 0; i < 2; ++i) {
      const auto pass = world.pass();
      EXPECT_FALSE(pass.follow_up.forget);
      for (const auto& round : pass.rounds) {
        EXPECT_FALSE(round.observed.gone);
        for (const auto& step : round.plan.steps)
          EXPECT_FALSE(takes_away(step, round.observed)) << describe(round.plan);
      }
      world.end_jobs();
    }
    world.tree.on_read({});
    world.proc.on_read({});
    EXPECT_EQ(world.marked_groups(), before);
    EXPECT_NE(world.record.state, SandboxState::removing);
    return count >= k;
  }
};

TEST_P(ReadFaults, TakeNothingAway) {
  for (const bool restarted : {false, true})
    for (const bool lasting : {false, true})
      for (std::size_t k = 1;; k += lasting ? 5 : 1) {
        const int code = kReadCodes[k % std::size(kReadCodes)];
        SCOPED_TRACE(fmt::format("read {} fails{}{}: {}", k, lasting ? " and all after it" : "",
                                 restarted ? " after a restart" : "", errno_text(code)));
        SandboxWorld world(GetParam().scenario);
        world.boot();
        settle(world);
        if (restarted) world.restart_daemon();
        const bool met = struck(world, k, code, lasting);
        settle(world);
        EXPECT_EQ(world.misplaced(), "");
        EXPECT_EQ(world.record.state, SandboxState::placed);
        for (const auto& active : world.record.conditions)
          EXPECT_NE(active.condition.condition, ConditionName::input_unreadable);
        if (HasFailure()) return;
        if (!met) break;
      }
}

std::string row_name(const ::testing::TestParamInfo<FaultRow>& row) { return row.param.name; }
INSTANTIATE_TEST_SUITE_P(Rows, Faults, ::testing::ValuesIn(fault_rows()), row_name);

/// Each layout once: what is read depends on it, what it means does not.
std::vector<FaultRow> read_rows() {
  auto rows = fault_rows();
  std::erase_if(rows, [](const FaultRow& row) {
    constexpr std::string_view kChosen[] = {"v2_nested", "v2_own_scope", "v1_plain", "v1_legacy"};
    return std::find(std::begin(kChosen), std::end(kChosen), row.name) == std::end(kChosen);
  });
  return rows;
}
INSTANTIATE_TEST_SUITE_P(Rows, ReadFaults, ::testing::ValuesIn(read_rows()), row_name);

}  // namespace
}  // namespace kcg::test
