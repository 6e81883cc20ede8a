// SPDX-License-Identifier: Apache-2.0
#include "base/flat_map.hpp"

#include <gtest/gtest.h>

#include <string>

namespace kcg {
namespace {

std::string all(const FlatMap<int, std::string>& map) {
  std::string text;
  for (const auto& [key, value] : map) text += std::to_string(key) + value + " ";
  return text;
}

TEST(FlatMap, HoldsEachKeyOnceAscending) {
  FlatMap<int, std::string> map;
  EXPECT_TRUE(map.empty());
  map[3] = "c";
  map[1] = "a";
  map[2] = "?";
  map[2] = "b";
  EXPECT_EQ(map[4], "");
  EXPECT_EQ(all(map), "1a 2b 3c 4 ");
  EXPECT_EQ(map.find(2)->second, "b");
  EXPECT_EQ(map.find(0), map.end());
  EXPECT_EQ(map.find(9), map.end());
  map.erase_if([](const auto& one) { return one.first % 2 == 0; });
  map.shrink();
  EXPECT_EQ(all(map), "1a 3c ");
  EXPECT_EQ(map.size(), 2U);
}

}  // namespace
}  // namespace kcg
