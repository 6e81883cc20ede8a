// SPDX-License-Identifier: Apache-2.0
#include "base/rare.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace kcg {
namespace {

void set(Rare<std::string>& rare, const std::string& text) {
  rare.change([&](std::string& value) { value = text; });
}

TEST(Rare, IsOrdinaryWhileNothingIsChanged) {
  Rare<std::string> rare;
  EXPECT_TRUE(rare.ordinary());
  EXPECT_EQ(rare.get(), "");
  set(rare, "a");
  EXPECT_FALSE(rare.ordinary());
  EXPECT_EQ(rare->size(), 1U);
  set(rare, "");
  EXPECT_TRUE(rare.ordinary());
}

TEST(Rare, CopiesAreWholeCopies) {
  Rare<std::string> one;
  set(one, "a");
  auto other = one;
  EXPECT_EQ(other, one);
  set(other, "b");
  EXPECT_EQ(one.get(), "a");
  one = other;
  EXPECT_EQ(one.get(), "b");
  const auto moved = std::move(other);
  EXPECT_EQ(moved.get(), "b");
  EXPECT_NE(moved, Rare<std::string>());
}

}  // namespace
}  // namespace kcg
