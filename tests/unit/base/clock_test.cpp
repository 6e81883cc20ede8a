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

TEST(Rfc3339, IsUtcAndKnowsTheCalendar) {
  const struct {
    std::int64_t seconds;
    const char* text;
  } rows[] = {{0, "1970-01-01T00:00:00Z"},
              {951782400, "2000-02-29T00:00:00Z"},
              {1700000000, "2023-11-14T22:13:20Z"},
              {-1, "1969-12-31T23:59:59Z"},
              {253402300799, "9999-12-31T23:59:59Z"},
              {253402300800, ""}};
  for (const auto& row : rows) EXPECT_EQ(rfc3339(row.seconds), row.text);
}

}  // namespace
}  // namespace kcg
