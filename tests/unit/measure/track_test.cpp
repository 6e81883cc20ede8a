// SPDX-License-Identifier: Apache-2.0
#include "measure/track.hpp"

#include <gtest/gtest.h>

namespace kcg {
namespace {

using std::chrono::seconds;

constexpr Instant kWindow = seconds(30);

TEST(OverheadTracks, ThePeakStays) {
  OverheadTrack track;
  EXPECT_EQ(track.measured(), OverheadMeasured{});
  track.note(5, seconds(100), kWindow);
  track.note(9, seconds(110), kWindow);
  track.note(7, seconds(120), kWindow);
  EXPECT_EQ(track.measured(), (OverheadMeasured{7, 9, 9}));
  track.note(std::nullopt, seconds(500), kWindow);
  EXPECT_EQ(track.measured(), (OverheadMeasured{std::nullopt, std::nullopt, 9}));
}

TEST(OverheadTracks, WhatWasMostIsToldForAWindowAtLeast) {
  OverheadTrack track;
  track.note(9, seconds(100), kWindow);
  for (int at = 110; at <= 150; at += 10) {
    track.note(1, seconds(at), kWindow);
    EXPECT_EQ(track.measured().recent, 9U) << at;
  }
  track.note(1, seconds(160), kWindow);
  EXPECT_EQ(track.measured().recent, 1U) << "two windows later";
  EXPECT_EQ(track.measured().peak, 9U);
}

TEST(OverheadTracks, APauseOfTwoWindowsForgets) {
  OverheadTrack track;
  track.note(9, seconds(100), kWindow);
  track.note(1, seconds(160), kWindow);
  EXPECT_EQ(track.measured().recent, 1U);
}

TEST(OverheadTracks, GoesOnWithThePeakOfBefore) {
  OverheadTrack track(9);
  EXPECT_EQ(track.measured(), (OverheadMeasured{std::nullopt, std::nullopt, 9}));
  track.note(5, seconds(1), kWindow);
  EXPECT_EQ(track.measured(), (OverheadMeasured{5, 5, 9}));
}

TEST(CpuTracks, WhatWasUsedSinceTheLastMeasurement) {
  CpuTrack track;
  track.note(7'000'000, seconds(100));
  EXPECT_EQ(track.milli(), std::nullopt) << "there is nothing before it";
  track.note(17'200'000, seconds(110));
  EXPECT_EQ(track.milli(), 1020U);
  track.note(17'200'000, seconds(120));
  EXPECT_EQ(track.milli(), 0U);
}

TEST(CpuTracks, UnknownIsUnknown) {
  CpuTrack track;
  track.note(7, seconds(100));
  track.note(std::nullopt, seconds(110));
  EXPECT_EQ(track.milli(), std::nullopt);
  track.note(9'000'000, seconds(120));
  EXPECT_EQ(track.milli(), std::nullopt) << "nothing was known before it";
  track.note(8'000'000, seconds(130));
  EXPECT_EQ(track.milli(), std::nullopt) << "a group that was made anew";
  track.note(9'000'000, seconds(130));
  EXPECT_EQ(track.milli(), std::nullopt) << "no time has passed";
}

}  // namespace
}  // namespace kcg
