// SPDX-License-Identifier: Apache-2.0
#include "config/duration.hpp"

#include <gtest/gtest.h>

namespace kcg {
namespace {

using namespace std::chrono_literals;

TEST(Duration, Parses) {
  const struct {
    const char *text, *canonical;
    std::chrono::milliseconds value;
  } rows[] = {
      {"500ms", "500ms", 500ms}, {"1000ms", "1s", 1s}, {"30s", "30s", 30s}, {"90s", "90s", 90s},
      {"60s", "1m", 1min},       {"5m", "5m", 5min},   {"24h", "24h", 24h}, {"0h", "0s", 0s},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.text);
    EXPECT_EQ(parse_duration(row.text), row.value);
    EXPECT_EQ(duration_text(row.value), row.canonical);
    EXPECT_EQ(parse_duration(row.canonical), row.value);
  }
}

TEST(Duration, Refuses) {
  for (const char* bad : {"", "30", "s", "-1s", "+1s", "1.5s", "1 s", " 1s", "1s ", "1S", "1d",
                          "1m30s", "1min", "9223372036854775807h", "9223372036854775808ms", "0x1s"})
    EXPECT_EQ(parse_duration(bad), std::nullopt) << bad;
}

}  // namespace
}  // namespace kcg
