// SPDX-License-Identifier: Apache-2.0
//
// What a flood of events may cost: counted, not timed.
#include "daemon/watch/flood.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>

#include "daemon/failure_count.hpp"
#include "daemon/watch/backoff.hpp"
#include "daemon/watch/hint_gate.hpp"

namespace kcg::test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Instant kStart = std::chrono::hours(1);
const Hint kThread{HintKind::thread, "", 7};
const Hint kGroup{HintKind::group, "s1", 0};

/// Offers a hint every `pause` for `length` and takes what is due; how many passed.
int passed(HintGate& gate, const Hint& hint, Instant pause, Instant length) {
  int count = 0;
  for (Instant now = kStart; now < kStart + length; now += pause) {
    count += static_cast<int>(gate.due(now).size());
    count += gate.admit(hint, now) ? 1 : 0;
  }
  return count;
}

TEST(FailureCounts, AreOfOneWindow) {
  FailureCount count;
  for (int i = 0; i < FailureCount::kMost; ++i) EXPECT_TRUE(count.add(kStart)) << i;
  EXPECT_FALSE(count.add(kStart + FailureCount::kWindow - microseconds(1)));
  for (int i = 0; i < FailureCount::kMost; ++i)
    EXPECT_TRUE(count.add(kStart + FailureCount::kWindow)) << i << ": those before are forgotten";
  EXPECT_FALSE(count.add(kStart + FailureCount::kWindow));
}

TEST(HintGates, PassABurstAtOnce) {
  HintGate gate;
  for (int i = 0; i < HintGate::kBurst; ++i) EXPECT_TRUE(gate.admit(kThread, kStart)) << i;
  EXPECT_FALSE(gate.next());
}

TEST(HintGates, BoundWhatAThreadThatRenamesItselfCosts) {
  HintGate gate;
  const int most = HintGate::kBurst + static_cast<int>(seconds(10) / HintGate::kThreadPause) + 1;
  const int count = passed(gate, kThread, microseconds(50), seconds(10));
  EXPECT_LE(count, most) << "of 200,000";
  EXPECT_GE(count, most - 2);
}

TEST(HintGates, LoseNone) {
  HintGate gate;
  while (gate.admit(kThread, kStart)) {
  }
  const auto when = gate.next();
  ASSERT_TRUE(when);
  EXPECT_LE(*when, kStart + HintGate::kThreadPause);
  EXPECT_TRUE(gate.due(*when - microseconds(1)).empty());
  EXPECT_EQ(gate.due(*when), std::vector<Hint>{kThread});
  EXPECT_FALSE(gate.next());
}

TEST(HintGates, MakeOneOfAllThatAreKept) {
  HintGate gate;
  for (int i = 0; i < 10'000; ++i) (void)gate.admit(kThread, kStart);
  EXPECT_EQ(gate.due(kStart + seconds(1)).size(), 1U);
}

TEST(HintGates, LetNobodyWaitForAnother) {
  HintGate gate;
  while (gate.admit(kThread, kStart)) {
  }
  EXPECT_TRUE(gate.admit(kGroup, kStart)) << "another kind";
  EXPECT_TRUE(gate.admit({HintKind::thread, "", 8}, kStart)) << "another process";
  EXPECT_TRUE(gate.admit({HintKind::group, "s2", 0}, kStart)) << "another sandbox";
}

TEST(HintGates, PassWhatIsDueFirstFirst) {
  HintGate gate;
  const Hint state{HintKind::kata_state, "s1", 0};
  while (gate.admit(kThread, kStart)) {
  }
  while (gate.admit(state, kStart)) {
  }
  EXPECT_EQ(gate.next(), kStart + HintGate::kFilePause) << "root's files do not wait for threads";
  EXPECT_EQ(gate.due(kStart + HintGate::kFilePause), std::vector<Hint>{state});
  EXPECT_EQ(gate.next(), kStart + HintGate::kThreadPause);
}

TEST(HintGates, AreFullAgainAfterAQuietTime) {
  HintGate gate;
  while (gate.admit(kThread, kStart)) {
  }
  (void)gate.due(kStart + seconds(1));
  const auto later = kStart + minutes(1);
  for (int i = 0; i < HintGate::kBurst; ++i) EXPECT_TRUE(gate.admit(kThread, later)) << i;
}

TEST(HintGates, ForgetQuietSubjects) {
  HintGate gate;
  for (Pid pid = 1; pid <= 1000; ++pid) (void)gate.admit({HintKind::exec, "", pid}, kStart);
  EXPECT_EQ(gate.subjects(), 1000U);
  (void)gate.admit(kThread, kStart + minutes(1));
  EXPECT_EQ(gate.subjects(), 1U);
}

/// One each millisecond: 50 of them are not quiet yet.
TEST(HintGates, ForgetThemInAStorm) {
  HintGate gate;
  std::size_t most = 0;
  for (Pid pid = 1; pid <= 10'000; ++pid) {
    (void)gate.admit({HintKind::exec, "", pid}, kStart + std::chrono::milliseconds(pid));
    most = std::max(most, gate.subjects());
  }
  EXPECT_LE(most, 150U);
}

TEST(HintGates, AreBounded) {
  HintGate gate;
  for (Pid pid = 1; pid <= 70'000; ++pid) (void)gate.admit({HintKind::exec, "", pid}, kStart);
  EXPECT_LE(gate.subjects(), HintGate::kMostSubjects);
}

TEST(Floods, AreMoreThanManyStarts) {
  FloodCount count;
  for (Pid pid = 1; pid <= 100; ++pid)
    for (int i = 0; i < 5; ++i) count.add(pid, kStart);
  EXPECT_FALSE(count.flood());
  count.add(1, kStart);
  EXPECT_TRUE(count.flood());
  EXPECT_TRUE(count.loud().empty()) << "many quiet ones";
}

TEST(Floods, HaveTheirAuthors) {
  FloodCount count;
  for (std::size_t i = 0; i <= FloodCount::kMost; ++i) count.add(7, kStart);
  count.add(8, kStart);
  EXPECT_TRUE(count.flood());
  EXPECT_EQ(count.loud(), std::set<Pid>{7});
}

TEST(Floods, EndWithTheirWindow) {
  FloodCount count;
  for (std::size_t i = 0; i <= FloodCount::kMost; ++i) count.add(7, kStart);
  count.add(7, kStart + FloodCount::kWindow);
  EXPECT_FALSE(count.flood());
  EXPECT_TRUE(count.loud().empty());
}

TEST(Backoffs, GrowAndBeginAnew) {
  Backoff backoff(seconds(1), seconds(10));
  Instant now = kStart;
  for (const int pause : {1, 2, 4, 8, 10, 10}) {
    EXPECT_EQ(backoff.failed(now), seconds(pause));
    now += seconds(pause);
  }
  EXPECT_EQ(backoff.failed(now + seconds(9)), seconds(10)) << "works and fails in turns";
  EXPECT_EQ(backoff.failed(now + minutes(1)), seconds(1));
}

}  // namespace
}  // namespace kcg::test
