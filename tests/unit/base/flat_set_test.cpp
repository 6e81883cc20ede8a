// SPDX-License-Identifier: Apache-2.0
#include "base/flat_set.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace kcg {
namespace {

std::vector<int> all(const FlatSet<int>& set) { return {set.begin(), set.end()}; }

TEST(FlatSet, HoldsEachOnceAscending) {
  FlatSet<int> set(std::vector{3, 1, 3, 2});
  EXPECT_EQ(all(set), (std::vector{1, 2, 3}));
  EXPECT_FALSE(set.insert(2));
  EXPECT_TRUE(set.insert(0));
  set.insert(9);
  EXPECT_EQ(all(set), (std::vector{0, 1, 2, 3, 9}));
  set.erase(1);
  set.erase(7);
  EXPECT_EQ(all(set), (std::vector{0, 2, 3, 9}));
  EXPECT_EQ(set.size(), 4U);
  EXPECT_TRUE(set.contains(9));
  EXPECT_FALSE(set.contains(1));
  EXPECT_EQ(set, FlatSet<int>(std::set{9, 3, 2, 0}));
  EXPECT_EQ(set, (FlatSet<int>{9, 3, 2, 0}));
  set.erase_if([](int one) { return one > 2; });
  EXPECT_EQ(all(set), (std::vector{0, 2}));
  EXPECT_TRUE(FlatSet<int>().empty());
}

}  // namespace
}  // namespace kcg
