// SPDX-License-Identifier: Apache-2.0
#include "record/parts.hpp"

#include <gtest/gtest.h>

namespace kcg {
namespace {

using namespace std::chrono_literals;
using Due = std::optional<Instant>;

constexpr Instant kNow = 100s;

TEST(Earlier, TakesWhatThereIs) {
  EXPECT_EQ(earlier({}, {}), Due());
  EXPECT_EQ(earlier(kNow, {}), Due(kNow));
  EXPECT_EQ(earlier({}, kNow), Due(kNow));
  EXPECT_EQ(earlier(kNow + 1s, kNow), Due(kNow));
}

TEST(RecordParts, APartThatWaitsForNothingWakesNobody) {
  EXPECT_FALSE(Heals{}.wake(kNow));
  EXPECT_FALSE(VmmLife{}.wake(kNow));
  EXPECT_FALSE(ScopeTries{}.wake(kNow));
  EXPECT_FALSE(Retries{}.wake(kNow));
  EXPECT_FALSE(Unread{}.wake(kNow));
  EXPECT_FALSE(Failures{}.wake(kNow));
  EXPECT_FALSE(Unrest{}.wake(kNow));
  EXPECT_FALSE(Unnamed{}.wake(kNow));
  EXPECT_FALSE(ChargeLook{}.wake(kNow));
}

TEST(RecordParts, TheNextOfSeveralContestsIsTriedAgainFirst) {
  HealCounts counts;
  const auto wake = [&](const std::string& what, Instant until) {
    counts[{what}].contest.change([&](Contest& contest) { contest.quiet_until = until; });
    return Heals(counts).wake(kNow);
  };
  EXPECT_FALSE(wake("over", kNow));
  EXPECT_EQ(wake("late", kNow + 60s), Due(kNow + 60s));
  EXPECT_EQ(wake("soon", kNow + 30s), Due(kNow + 30s));
}

TEST(RecordParts, HealsAreGivenBackAsTheyWere) {
  HealCounts counts;
  auto& calm = counts[{"cpu.max", CgroupPath::parse("/p/a").value()}];
  calm.written = "1 100000";
  calm.hierarchy = "v2";
  calm.last = kNow;
  calm.held = true;
  EXPECT_EQ(Heals(counts).counts(), counts);
  EXPECT_FALSE(Heals(counts).contested());
  counts[{"task 5"}].contest.change(
      [](Contest& contest) { contest = {"/elsewhere", {kNow, kNow + 1us}, 3, kNow + 30s, 30s}; });
  EXPECT_EQ(Heals(counts).counts(), counts);
  EXPECT_TRUE(Heals(counts).contested());
}

TEST(RecordParts, AnEndIsJudgedOnce) {
  VmmLife life;
  life.ended = kNow;
  EXPECT_EQ(life.wake(kNow), Due(kNow + kVmmEndGrace));
  EXPECT_FALSE(life.wake(kNow + kVmmEndGrace));
  Failures failures;
  failures.since = {{"a", kNow}, {"b", kNow - 100ms}};
  EXPECT_EQ(failures.wake(kNow), Due(kNow - 100ms + kEndGrace));
  EXPECT_EQ(failures.wake(kNow - 100ms + kEndGrace), Due(kNow + kEndGrace));
  Unrest unrest;
  unrest.vcpuless_since = kNow;
  EXPECT_EQ(unrest.wake(kNow), Due(kNow + kVcpuGrace));
  EXPECT_FALSE(unrest.wake(kNow + kVcpuGrace));
}

TEST(RecordParts, WhatNobodyTellsTheEndOfIsLookedAtEverMoreSeldom) {
  Failures failures;
  failures.since = {{"a", kNow}};
  Unrest unrest;
  unrest.strangers_since = kNow;
  for (const auto& [age, pause] :
       {std::pair<Instant, Instant>{kEndGrace, kEndGrace}, {2s, 2s}, {5min, 5min}, {24h, 5min}}) {
    EXPECT_EQ(failures.wake(kNow + age), Due(kNow + age + pause));
    EXPECT_EQ(unrest.wake(kNow + age), Due(kNow + age + pause));
  }
  EXPECT_EQ(unrest.wake(kNow), Due(kNow + kEndGrace));
  unrest.vcpuless_since = kNow;
  EXPECT_EQ(unrest.wake(kNow), Due(kNow + kEndGrace)) << "the earlier of both";
  EXPECT_EQ(unrest.wake(kNow + 4s), Due(kNow + kVcpuGrace));
}

TEST(RecordParts, AnOpenJobIsWaitedForLongerThanItsNextTry) {
  ScopeTries scope;
  scope.tries = 1;
  scope.asked = kNow;
  scope.due = kNow + 1s;
  EXPECT_EQ(scope.wake(kNow), Due(kNow + 1s));
  EXPECT_EQ(scope.wake(kNow + 5s), Due(kNow + 5s)) << "overdue";
  scope.pending = PendingJob{"x.scope"};
  EXPECT_EQ(scope.wake(kNow), Due(kNow + kJobTimeout));
}

TEST(RecordParts, WhatTheKernelRefusesIsTriedAFewTimes) {
  Retries retries;
  retries.moves = 1;
  EXPECT_EQ(retries.wake(kNow), Due(kNow + 6ms));
  retries.removals = 4;
  EXPECT_EQ(retries.wake(kNow), Due(kNow + 8ms));
  retries.removals = kRemovalTries + 1;
  EXPECT_EQ(retries.wake(kNow), Due(kNow + 5s)) << "for it may never be told that it is empty";
  retries.end_is_told = true;
  EXPECT_EQ(retries.wake(kNow), Due(kNow + 60s)) << "but nobody tells of an empty group below it";
  retries.removals = 0;
  EXPECT_EQ(retries.wake(kNow), Due(kNow + 6ms)) << "the move is still due";
  retries.moves = kMoveTries + 1;
  EXPECT_FALSE(retries.wake(kNow)) << "only at resyncs";
}

TEST(RecordParts, WhatCannotBeReadIsReadEverMoreRarely) {
  EXPECT_EQ(Unread{1}.wake(kNow), Due(kNow + 50ms));
  EXPECT_EQ(Unread{2}.wake(kNow), Due(kNow + 100ms));
  EXPECT_EQ(Unread{10}.wake(kNow), Due(kNow + 25'600ms));
  EXPECT_EQ(Unread{1000}.wake(kNow), Due(kNow + 25'600ms));
}

}  // namespace
}  // namespace kcg
