// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"

#include <gtest/gtest.h>

namespace kcg {
namespace {

TEST(SystemClock, NeverGoesBack) {
  const SystemClock clock;
  const auto first = clock.now();
  EXPECT_GT(first, Instant{0});
  EXPECT_GE(clock.now(), first);
  EXPECT_GT(clock.wall_seconds(), 1'700'000'000) << "before this was written";
}

}  // namespace
}  // namespace kcg
