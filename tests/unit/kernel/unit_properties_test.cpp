// SPDX-License-Identifier: Apache-2.0
#include "kernel/unit_properties.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <limits>

namespace kcg {

namespace {

using Mask = std::vector<std::uint8_t>;
using Properties = std::vector<UnitProperty>;

constexpr std::uint64_t kInfinity = std::numeric_limits<std::uint64_t>::max();

struct Row {
  const char* name;
  WantedFile file;
  Properties properties;
};

Properties quota(std::uint64_t per_second, std::uint64_t period = 100'000) {
  return {{"CPUQuotaPerSecUSec", per_second}, {"CPUQuotaPeriodUSec", period}};
}

Properties one(const char* name, std::variant<std::uint64_t, Mask> value) {
  return {{name, std::move(value)}};
}

const std::vector<Row>& rows() {
  static const std::vector<Row> kRows = {
      {"memory", {"memory.max", "1172307968"}, one("MemoryMax", 1172307968U)},
      {"memory_unlimited", {"memory.max", "max"}, one("MemoryMax", kInfinity)},
      {"memory_v1", {"memory.limit_in_bytes", "8192"}, one("MemoryLimit", 8192U)},
      {"memory_v1_unlimited", {"memory.limit_in_bytes", "-1"}, one("MemoryLimit", kInfinity)},
      {"tasks", {"pids.max", "77"}, one("TasksMax", 77U)},
      {"weight", {"cpu.weight", "300"}, one("CPUWeight", 300U)},
      {"shares", {"cpu.shares", "2048"}, one("CPUShares", 2048U)},
      {"quota", {"cpu.max", "150000 100000"}, quota(1'500'000)},
      {"quota_rounded_up", {"cpu.max", "12345 100000"}, quota(130'000)},
      {"quota_of_another_period", {"cpu.max", "5000 20000"}, quota(250'000, 20'000)},
      {"quota_tiny", {"cpu.max", "1 100000"}, quota(10'000)},
      {"quota_huge", {"cpu.max", "18446744073709551615 100000"}, quota(kInfinity)},
      {"quota_unlimited", {"cpu.max", "max 100000"}, quota(kInfinity)},
      {"quota_v1", {"cpu.cfs_quota_us", "75000"}, quota(750'000)},
      {"quota_v1_unlimited", {"cpu.cfs_quota_us", "-1"}, quota(kInfinity)},
      {"period_v1", {"cpu.cfs_period_us", "100000"}, one("CPUQuotaPeriodUSec", 100'000U)},
      {"cpus", {"cpuset.cpus", "0-1,9"}, one("AllowedCPUs", Mask{0x03, 0x02})},
      {"cpus_none", {"cpuset.cpus", ""}, one("AllowedCPUs", Mask{})},
      {"nodes", {"cpuset.mems", "7"}, one("AllowedMemoryNodes", Mask{0x80})},
  };
  return kRows;
}

class UnitPropertiesTest : public testing::TestWithParam<Row> {};

TEST_P(UnitPropertiesTest, NamesAndValues) {
  const auto properties = unit_properties({GetParam().file});
  ASSERT_TRUE(properties) << properties.error().text;
  EXPECT_EQ(*properties, GetParam().properties);
}

INSTANTIATE_TEST_SUITE_P(All, UnitPropertiesTest, testing::ValuesIn(rows()),
                         [](const auto& row) { return row.param.name; });

TEST(UnitProperties, ManyInTheirOrder) {
  const auto properties = unit_properties({{"memory.max", "4096"}, {"cpu.max", "1000 100000"}});
  ASSERT_TRUE(properties);
  ASSERT_EQ(properties->size(), 3U);
  EXPECT_EQ(properties->at(0).name, "MemoryMax");
  EXPECT_EQ(properties->at(2).name, "CPUQuotaPeriodUSec");
}

TEST(UnitProperties, EachOnceWhateverTheOrder) {
  const WantedFile quota{"cpu.cfs_quota_us", "75000"};
  const WantedFile period{"cpu.cfs_period_us", "100000"};
  for (const auto& files : {std::vector{quota, period}, std::vector{period, quota}}) {
    const auto properties = unit_properties(files);
    ASSERT_TRUE(properties);
    EXPECT_EQ(properties->size(), 2U);
    for (const auto& property : *properties)
      EXPECT_EQ(std::get<std::uint64_t>(property.value),
                property.name == "CPUQuotaPeriodUSec" ? 100'000U : 750'000U);
  }
}

TEST(UnitProperties, WhatCannotBeAskedFor) {
  struct Bad {
    WantedFile file;
    int code;
  };
  for (const auto& bad : std::vector<Bad>{{{"memory.memsw.limit_in_bytes", "1"}, EOPNOTSUPP},
                                          {{"memory.max", "12k"}, EINVAL},
                                          {{"memory.max", ""}, EINVAL},
                                          {{"cpu.max", "100"}, EINVAL},
                                          {{"cpu.max", "-1 100000"}, EINVAL},
                                          {{"cpu.cfs_period_us", "-1"}, EINVAL},
                                          {{"cpu.cfs_period_us", "max"}, EINVAL},
                                          {{"cpuset.cpus", "3-1"}, EINVAL}}) {
    const auto properties = unit_properties({bad.file});
    ASSERT_FALSE(properties) << bad.file.key;
    EXPECT_EQ(properties.error().code, bad.code) << bad.file.key;
    EXPECT_NE(properties.error().text.find(bad.file.key), std::string::npos);
  }
}

struct Written {
  const char* name;
  WantedFile wanted;
  const char* now;
  bool same;
};

class AsSystemdWritesTest : public testing::TestWithParam<Written> {};

TEST_P(AsSystemdWritesTest, IsNoDrift) {
  EXPECT_EQ(as_systemd_writes(GetParam().wanted, GetParam().now), GetParam().same);
}

INSTANTIATE_TEST_SUITE_P(
    All, AsSystemdWritesTest,
    testing::Values(Written{"equal", {"memory.max", "4096"}, "4096", true},
                    Written{"other_memory", {"memory.max", "4096"}, "8192", false},
                    Written{"no_file", {"memory.max", "4096"}, "", false},
                    Written{"whole_per_cents", {"cpu.max", "150000 100000"}, "150000 100000", true},
                    Written{"rounded", {"cpu.max", "12345 100000"}, "13000 100000", true},
                    Written{"not_cut_off", {"cpu.max", "12345 100000"}, "12000 100000", false},
                    Written{"other_quota", {"cpu.max", "12345 100000"}, "14000 100000", false},
                    Written{"other_period", {"cpu.max", "12345 100000"}, "13000 200000", false},
                    Written{"longer_period", {"cpu.max", "100 10000"}, "1000 100000", true},
                    Written{"unlimited", {"cpu.max", "max 100000"}, "max 100000", true},
                    Written{"not_unlimited", {"cpu.max", "max 100000"}, "100000 100000", false},
                    Written{"still_unlimited", {"cpu.max", "100000 100000"}, "max 100000", false},
                    Written{"rounded_v1", {"cpu.cfs_quota_us", "12345"}, "13000", true},
                    Written{"other_v1", {"cpu.cfs_quota_us", "12345"}, "12345000", false},
                    Written{"period_v1", {"cpu.cfs_period_us", "100000"}, "100000", true},
                    Written{"other_period_v1", {"cpu.cfs_period_us", "100000"}, "50000", false},
                    Written{"no_period_v1", {"cpu.cfs_period_us", "100000"}, "", false},
                    Written{"same_cpus", {"cpuset.cpus", "0,1,2"}, "0-2", true},
                    Written{"other_cpus", {"cpuset.cpus", "0-1"}, "0-2", false},
                    Written{"not_systemds", {"memory.memsw.limit_in_bytes", "1"}, "2", false}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace kcg
