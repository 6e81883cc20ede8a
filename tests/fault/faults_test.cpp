// SPDX-License-Identifier: Apache-2.0
//
// The k-th kernel operation fails, for every k and every errno that a kernel may answer: the pass
// ends, nothing is written where it must not be, and once the fault is over all ends well.
#include <gtest/gtest.h>

#include <cerrno>

#include "fault/scenarios.hpp"
#include "support/allowed.hpp"

namespace kcg::test {
namespace {

constexpr int kCodes[] = {ENOENT, EBUSY, ENOSPC, EINVAL, ESRCH, EACCES, EOPNOTSUPP, ENODEV, EAGAIN};

class Faults : public ::testing::TestWithParam<FaultRow> {};

Pass judged_pass(SandboxWorld& world) {
  auto pass = world.pass();
  for (const auto& round : pass.rounds)
    EXPECT_EQ(forbidden_text(world.scenario.config, round.observed, round.plan), "");
  world.end_jobs();
  return pass;
}

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

std::string row_name(const ::testing::TestParamInfo<FaultRow>& row) { return row.param.name; }
INSTANTIATE_TEST_SUITE_P(Rows, Faults, ::testing::ValuesIn(fault_rows()), row_name);

}  // namespace
}  // namespace kcg::test
