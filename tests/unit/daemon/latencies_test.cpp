// SPDX-License-Identifier: Apache-2.0
#include "daemon/node/latencies.hpp"

#include <gtest/gtest.h>

namespace kcg::test {
namespace {

TEST(Latencies, NothingWasCounted) { EXPECT_EQ(Latencies().facts(), LatencyFacts{}); }

/// Never too short, and at most a 32nd too long.
TEST(Latencies, AreRightToAThirtySecond) {
  for (const Instant::rep usec : {1, 2, 3, 5, 7, 8, 9, 100, 4100, 99'999, 1'000'000, 86'400'000}) {
    Latencies one;
    one.add(Instant(usec));
    const auto told = one.facts().half.count();
    EXPECT_GE(told, usec);
    EXPECT_LE(told, usec + usec / 32) << usec;
    EXPECT_EQ(one.facts().ninety_nine.count(), told);
  }
}

TEST(Latencies, HalfAndNinetyNineOfAHundred) {
  Latencies all;
  for (int i = 0; i < 98; ++i) all.add(Instant(1000));
  EXPECT_LT(all.facts().ninety_nine, Instant(1200));
  for (int i = 0; i < 2; ++i) all.add(Instant(1'000'000));
  const auto facts = all.facts();
  EXPECT_EQ(facts.count, 100U);
  EXPECT_LT(facts.half, Instant(1200));
  EXPECT_GE(facts.ninety_nine, Instant(1'000'000)) << "the 99th of 100";
}

/// A time is counted where it is told: at most 3.2 % too long, never too short.
TEST(Latencies, AreCountedByBounds) {
  Latencies all;
  for (const Instant::rep usec : {800, 900, 1500, 60'000, 20'000'000}) all.add(Instant(usec));
  const auto facts = all.facts();
  EXPECT_EQ(facts.sum, Instant(20'063'200));
  EXPECT_EQ(facts.within.at(std::chrono::milliseconds(1)), 2U);
  EXPECT_EQ(facts.within.at(std::chrono::milliseconds(2)), 3U);
  EXPECT_EQ(facts.within.at(std::chrono::milliseconds(50)), 3U);
  EXPECT_EQ(facts.within.at(std::chrono::milliseconds(100)), 4U);
  EXPECT_EQ(facts.within.rbegin()->second, 4U) << "one waited longer than all bounds";
}

TEST(Latencies, WhatIsBeyondAllBoundsIsCountedAtTheEnd) {
  Latencies all;
  all.add(Instant(-5));
  EXPECT_EQ(all.facts().half, Instant(1));
  all.add(Instant::max());
  EXPECT_EQ(all.facts().count, 2U);
  EXPECT_GT(all.facts().ninety_nine, std::chrono::hours(24));
}

TEST(PlacedAfter, IsNoWorseThanTheKernelsHundredths) {
  const struct {
    const char* name;
    Instant born;
    std::optional<Instant> heard;
    Instant now, took;
  } rows[] = {
      {"heard at once", Instant(100'000), Instant(105'000), Instant(109'000), Instant(4000)},
      {"nobody told", Instant(100'000), std::nullopt, Instant(109'000), Instant(9000)},
      {"an earlier word about it", Instant(100'000), Instant(50'000), Instant(109'000),
       Instant(9000)},
      {"heard late", Instant(100'000), Instant(500'000), Instant(501'000), Instant(391'000)},
      {"a clock that disagrees", Instant(100'000), std::nullopt, Instant(99'000), Instant(0)},
  };
  for (const auto& row : rows)
    EXPECT_EQ(placed_after(row.born, row.heard, row.now), row.took) << row.name;
}

}  // namespace
}  // namespace kcg::test
