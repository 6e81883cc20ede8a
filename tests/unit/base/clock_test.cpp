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

TEST(Rfc3339, ReadsWhatItWroteAndNothingElse) {
  for (const std::int64_t seconds : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{951782400},
                                     std::int64_t{1700000000}, std::int64_t{253402300799}})
    EXPECT_EQ(parse_rfc3339(rfc3339(seconds)), seconds);
  for (const char* text : {"", "2023-11-14T22:13:20", "2023-11-14T22:13:20+",
                           "2023-02-30T00:00:00Z", "2023-11-14 22:13:20Z", "2023-11-14T24:13:20Z",
                           "x023-11-14T22:13:20Z", "2023-11-14T22:13:20Z "})
    EXPECT_EQ(parse_rfc3339(text), std::nullopt) << text;
}

}  // namespace
}  // namespace kcg
