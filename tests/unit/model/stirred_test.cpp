// SPDX-License-Identifier: Apache-2.0
#include "model/stirred.hpp"

#include <gtest/gtest.h>

namespace kcg {
namespace {

TEST(Stirred, ThreadsAreThoseThatWereHeardOf) {
  StirredThreads threads;
  threads.add({7});
  threads.add({9, 11});
  EXPECT_TRUE(threads.contains(7) && threads.contains(11));
  EXPECT_FALSE(threads.contains(8) || threads.may_be_any());
}

TEST(Stirred, NobodyKnowsWhichStaysSo) {
  StirredThreads threads;
  threads.add({7});
  threads.add({});
  EXPECT_TRUE(threads.may_be_any() && threads.contains(8));
  threads.add({9});
  EXPECT_TRUE(threads.may_be_any() && threads.contains(8));
}

/// A guest makes as many as it likes.
TEST(Stirred, OfManyItIsNotKeptWhichTheyAre) {
  StirredThreads threads;
  for (std::size_t tid = 1; tid <= StirredThreads::kMostKept; ++tid)
    threads.add({static_cast<Pid>(tid)});
  EXPECT_FALSE(threads.may_be_any());
  threads.add({4711});
  EXPECT_TRUE(threads.may_be_any());
}

}  // namespace
}  // namespace kcg
