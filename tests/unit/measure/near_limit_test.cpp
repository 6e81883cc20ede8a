// SPDX-License-Identifier: Apache-2.0
#include "measure/near_limit.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace kcg {
namespace {

const MemoryCeiling kLimit{10'000, "/kubepods/pod1"};

TEST(NearLimits, TwoInARowUntilOneIsFarBelow) {
  const struct {
    const char* name;
    std::vector<std::uint64_t> kept;
    bool near;
  } rows[] = {
      {"one alone", {9501}, false},
      {"two", {9501, 9501}, true},
      {"exactly 95 %", {9500, 9500}, false},
      {"not in a row", {9501, 9400, 9501}, false},
      {"one far below between them", {9501, 100, 9501}, false},
      {"above 90 %, after it was near", {9501, 9501, 9000}, true},
      {"below 90 %", {9501, 9501, 8999}, false},
      {"below, and up once", {9501, 9501, 8999, 9501}, false},
      {"more than the limit", {10'000, 20'000}, true},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    NearLimitTrack track;
    for (const auto kept : row.kept) track.note(kept, kLimit);
    EXPECT_EQ(track.now(),
              row.near ? std::optional(NearLimit{row.kept.back(), kLimit}) : std::nullopt);
  }
}

TEST(NearLimits, WhatIsNotKnownChangesNothing) {
  NearLimitTrack track;
  track.note(9999, kLimit);
  track.note(std::nullopt, kLimit);
  EXPECT_FALSE(track.now());
  track.note(9999, kLimit);
  track.note(std::nullopt, kLimit);
  EXPECT_TRUE(track.now());
}

TEST(NearLimits, NothingIsNearWithoutALimit) {
  NearLimitTrack track;
  track.note(9999, kLimit);
  track.note(9999, kLimit);
  track.note(9999, std::nullopt);
  EXPECT_FALSE(track.now());
  track.note(9999, kLimit);
  EXPECT_FALSE(track.now()) << "that is the first one of another limit";
}

TEST(NearLimits, FilesMatterOnlyInWhatCouldBeNear) {
  EXPECT_FALSE(NearLimitTrack::matters(8999, kLimit));
  EXPECT_TRUE(NearLimitTrack::matters(9000, kLimit));
  EXPECT_TRUE(NearLimitTrack::matters(UINT64_MAX, {UINT64_MAX, "/"})) << "no overflow";
}

}  // namespace
}  // namespace kcg
