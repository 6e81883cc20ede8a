// SPDX-License-Identifier: Apache-2.0
#include "measure/histogram.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace kcg::test {
namespace {

constexpr auto kLargest = std::numeric_limits<std::uint64_t>::max();

TEST(Histogram, IsNeverTooSmallAndAtMostAThirtySecondTooLarge) {
  for (const std::uint64_t value :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{63}, std::uint64_t{64}, std::uint64_t{65},
        std::uint64_t{127}, std::uint64_t{128}, std::uint64_t{1000}, std::uint64_t{1} << 40,
        (std::uint64_t{1} << 40) - 1, (std::uint64_t{1} << 40) + 1, kLargest - 1, kLargest}) {
    Histogram one;
    one.add(value);
    const auto told = one.at(1);
    EXPECT_GE(told, value);
    EXPECT_LE(told - value, value / 32) << value;
    EXPECT_LT(one.steps().begin()->first, Histogram::kSteps);
    EXPECT_EQ(one.within(told), 1U);
    if (told == 0) continue;
    EXPECT_EQ(one.within(told - 1), 0U) << "it may be larger than that";
  }
}

TEST(Histogram, StepsFollowEachOther) {
  Histogram all;
  for (std::uint64_t value = 0; value < 4096; ++value) all.add(value);
  EXPECT_EQ(all.count(), 4096U);
  EXPECT_EQ(all.steps().rbegin()->first, all.steps().size() - 1) << "no step is passed over";
  std::uint64_t before = 0;
  for (std::uint64_t rank = 1; rank <= 4096; ++rank) {
    EXPECT_GE(all.at(rank), before);
    before = all.at(rank);
  }
  EXPECT_EQ(all.at(4097), 0U) << "there are not so many";
}

TEST(Histogram, TellsWhatSoManyOfAHundredDoNotExceed) {
  Histogram all;
  EXPECT_EQ(all.percentile(50), 0U);
  for (std::uint64_t value = 1; value <= 10; ++value) all.add(value);
  EXPECT_EQ(all.percentile(50), 5U);
  EXPECT_EQ(all.percentile(95), 10U) << "not one of 20 may be above";
  EXPECT_EQ(all.percentile(90), 9U);
  EXPECT_EQ(all.percentile(100), 10U);
}

TEST(Histogram, AddsWhatAnotherHasCounted) {
  Histogram one, other;
  one.add(5);
  other.add(5);
  other.add(1000);
  one.add(other);
  Histogram all;
  for (const auto& [step, times] : one.steps()) all.count_in(step, times);
  EXPECT_EQ(all, one);
  EXPECT_EQ(one.count(), 3U);
  one.count_in(0, 0);
  EXPECT_EQ(all, one) << "what was seen never is not kept";
}

}  // namespace
}  // namespace kcg::test
