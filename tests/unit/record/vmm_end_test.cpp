// SPDX-License-Identifier: Apache-2.0
#include "record/vmm_end.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace kcg::test {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kWall = 1'700'000'000;

/// Value: what a look sees. `kata`: the state's word; nullptr: Kata has none.
struct Look {
  int at;  ///< seconds
  bool vmm;
  const char* kata;
  bool shim = true;
  bool gone = false;
};
struct Row {
  const char* name;
  std::vector<Look> looks;
  bool told;
};

Observed observed(const Look& look) {
  Observed seen;
  seen.inputs.id = SandboxId::parse("S").value();
  if (look.kata != nullptr) {
    KataState state;
    state.state = look.kata;
    state.hypervisor = "qemu";
    seen.inputs.kata = state;
  }
  const auto add = [&](ProcessRole role, Pid pid) {
    Process process;
    process.role = role;
    process.facts.key = {pid, 1};
    seen.processes.push_back(process);
  };
  if (look.shim) add(ProcessRole::shim, 10);
  if (look.vmm) add(ProcessRole::vmm, 20);
  seen.gone = look.gone;
  return seen;
}

std::optional<Condition> after(const std::vector<Look>& looks, Record record = {}) {
  std::optional<Condition> condition;
  for (const auto& look : looks) {
    const auto seen = observed(look);
    const Instant now = std::chrono::seconds(100 + look.at);
    follow_vmm(record.vmm, seen, now, kWall + look.at);
    condition = vmm_end_condition(record, seen, now);
  }
  return condition;
}

class VmmEnds : public testing::TestWithParam<Row> {};
TEST_P(VmmEnds, AreToldOrNot) { EXPECT_EQ(after(GetParam().looks).has_value(), GetParam().told); }

const Row kRows[] = {
    {"runs", {{0, true, "running"}, {60, true, "running"}}, false},
    {"not_started", {{0, false, nullptr}, {60, false, nullptr}}, false},
    {"being_created", {{0, false, "ready"}, {60, false, "ready"}}, false},
    {"dead_under_a_living_shim",
     {{0, true, "running"}, {1, false, "running"}, {16, false, "running"}},
     true},
    {"not_before_the_grace_is_over",
     {{0, true, "running"}, {1, false, "running"}, {15, false, "running"}},
     false},
    {"kata_stops_it_and_says_so",
     {{0, true, "running"}, {1, false, "running"}, {3, false, "stopped"}, {60, false, "stopped"}},
     false},
    {"kata_removes_its_state_and_the_shim_lives_on",
     {{0, true, "running"}, {1, false, "running"}, {3, false, nullptr}, {60, false, nullptr}},
     false},
    {"killed_and_the_shim_notices_after_5_s",
     {{0, true, "running"}, {1, false, "running"}, {6, false, "stopped"}, {60, false, "stopped"}},
     false},
    {"systemd_stops_the_scope_for_9_s",
     {{0, true, "running"}, {1, false, "running"}, {10, false, "running", false, true}},
     false},
    {"the_shim_ends_first",
     {{0, true, "running"}, {1, true, "running", false}, {60, false, "running", false, true}},
     false},
    {"both_have_ended", {{0, true, "running"}, {60, false, "running", false, true}}, false},
    {"it_runs_again",
     {{0, true, "running"}, {1, false, "running"}, {20, false, "running"}, {21, true, "running"}},
     false},
    {"without_any_state", {{0, true, nullptr}, {1, false, nullptr}, {16, false, nullptr}}, true},
    {"after_a_restart_of_the_daemon", {{0, false, "running"}, {15, false, "running"}}, true},
    {"another_life",
     {{0, true, "running"},
      {1, false, "running", false, true},
      {2, false, "ready"},
      {60, false, "ready"}},
     false},
};
INSTANTIATE_TEST_SUITE_P(Plan, VmmEnds, testing::ValuesIn(kRows),
                         [](const auto& row) { return row.param.name; });

TEST(VmmEnd, SaysWhatIsKnown) {
  Record record;
  EXPECT_EQ(after({{0, true, "running"}, {1, false, "running"}, {16, false, "running"}})->text,
            "VMM 20 has ended at 2023-11-14T22:13:21Z, its shim 10 lives, and Kata's state still "
            "says 'running'; no kill for lack of memory is known");
  record.history.oom.kills = 2;
  EXPECT_EQ(
      after({{0, true, nullptr}, {1, false, nullptr}, {16, false, nullptr}}, record)->text,
      "VMM 20 has ended at 2023-11-14T22:13:21Z, its shim 10 lives, and Kata has no state of it; "
      "the kernel has killed 2 of its processes for lack of memory");
}

TEST(VmmEnd, WhoLooksOnceIsToldAtOnce) {
  EXPECT_TRUE(after({{0, false, "running"}}, one_look()));
  EXPECT_FALSE(after({{0, false, "ready"}}, one_look()));
  EXPECT_FALSE(after({{0, false, nullptr}}, one_look()));
  EXPECT_FALSE(after({{0, true, "running"}}, one_look()));
}

TEST(VmmEnd, IsLookedAtWhenTheGraceIsOver) {
  Record record;
  follow_vmm(record.vmm, observed({0, true, "running"}), 100s, kWall);
  EXPECT_FALSE(record.vmm.wake(100s));
  follow_vmm(record.vmm, observed({1, false, "running"}), 101s, kWall);
  EXPECT_EQ(record.vmm.wake(101s), Instant(116s));
  EXPECT_FALSE(record.vmm.wake(116s));
}

}  // namespace
}  // namespace kcg::test
