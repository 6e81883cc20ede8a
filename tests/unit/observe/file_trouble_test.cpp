// SPDX-License-Identifier: Apache-2.0
#include "observe/file_trouble.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace kcg {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(FileTrouble, IsReadAgainMoreAndMoreRarelyUntilItIsTold) {
  FileTrouble trouble;
  EXPECT_FALSE(trouble.any());
  const Instant begin = seconds(100);
  std::vector<Instant> reads;
  trouble.seen("half", begin);
  while (const auto at = trouble.read_again()) {
    EXPECT_FALSE(trouble.told(*at - milliseconds(1)));
    reads.push_back(*at - begin);
    trouble.seen("half", *at);
    ASSERT_LT(reads.size(), 20U);
  }
  EXPECT_EQ(reads, (std::vector<Instant>{milliseconds(50), milliseconds(150), milliseconds(350),
                                         milliseconds(750), milliseconds(1550), milliseconds(3150),
                                         seconds(5)}));
  EXPECT_TRUE(trouble.told(begin + seconds(5)));
  trouble.over();
  EXPECT_FALSE(trouble.any());
  EXPECT_FALSE(trouble.told(begin + seconds(60)));
}

TEST(FileTrouble, WhatNobodyHasWrittenForLongIsToldSooner) {
  const Instant now = seconds(100);
  FileTrouble some, long_ago;
  some.seen("bad", now, seconds(4));
  EXPECT_FALSE(some.told(now));
  EXPECT_TRUE(some.told(now + seconds(1)));
  long_ago.seen("bad", now, seconds(3600));
  EXPECT_TRUE(long_ago.told(now));
  EXPECT_FALSE(long_ago.read_again());
}

}  // namespace
}  // namespace kcg
