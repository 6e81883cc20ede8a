// SPDX-License-Identifier: Apache-2.0
#include "kernel/limit_text.hpp"

#include <gtest/gtest.h>

namespace kcg {
namespace {

TEST(LimitText, CpuMax) {
  const struct {
    const char *name, *text;
    CpuBandwidth bandwidth;
  } rows[] = {
      {"unlimited", "max 100000\n", {std::nullopt, 100'000}},
      {"limited", "150000 100000\n", {150'000, 100'000}},
      {"other period", "25000 50000", {25'000, 50'000}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto bandwidth = parse_cpu_max(row.text);
    ASSERT_TRUE(bandwidth) << bandwidth.error().text;
    EXPECT_EQ(*bandwidth, row.bandwidth);
  }
  for (const char* bad : {"", "max", "max 0", "-1 100000", "1 2 3", "1 x"})
    EXPECT_FALSE(parse_cpu_max(bad)) << bad;
}

TEST(LimitText, Cfs) {
  EXPECT_EQ(parse_cfs("-1\n", "100000\n"), (CpuBandwidth{std::nullopt, 100'000}));
  EXPECT_EQ(parse_cfs("150000\n", "100000\n"), (CpuBandwidth{150'000, 100'000}));
  for (const auto& [quota, period] : {std::pair("-2", "100000"), std::pair("max", "100000"),
                                      std::pair("", "100000"), std::pair("1", "0")})
    EXPECT_FALSE(parse_cfs(quota, period)) << quota << ' ' << period;
}

TEST(LimitText, Formats) {
  EXPECT_EQ(memory_max_text(std::nullopt), "max");
  EXPECT_EQ(memory_max_text(4096), "4096");
  EXPECT_EQ(memory_limit_v1_text(std::nullopt), "-1");
  EXPECT_EQ(memory_limit_v1_text(4096), "4096");
  EXPECT_EQ(cfs_quota_text(std::nullopt), "-1");
  EXPECT_EQ(cfs_quota_text(1000), "1000");
  for (const auto& bandwidth : {CpuBandwidth{}, CpuBandwidth{150'000, 100'000}})
    EXPECT_EQ(parse_cpu_max(cpu_max_text(bandwidth)), bandwidth);
}

}  // namespace
}  // namespace kcg
