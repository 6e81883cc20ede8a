// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/convert.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "daemon/bus/convert_parts.hpp"
#include "support/sample_views.hpp"

namespace kcg::bus {
namespace {

Properties everything(const SandboxView& view) {
  Properties all;
  for (const auto& name : property_names()) all.emplace(name, property(view, name));
  return all;
}

TEST(Convert, AViewComesBackAsItWas) {
  for (const auto& view : {samples::degraded(), samples::legacy(), SandboxView{}}) {
    const auto back = view_from(everything(view));
    ASSERT_TRUE(back) << back.error().text;
    EXPECT_EQ(*back, view) << view.id;
  }
}

TEST(Convert, AnIgnoredBundleComesBackWithItsReason) {
  const auto back = view_from(ignored_overview(samples::ignored()));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, samples::ignored());
}

TEST(Convert, TheOverviewHasNothingThatGrowsWithTheSandbox) {
  const auto listed = overview(samples::degraded());
  for (const auto* name : {"Threads", "Groups", "Containers", "Limits"})
    EXPECT_FALSE(listed.contains(name)) << name;
  for (const auto* name : {"Id", "State", "MemoryCurrent", "Conditions"})
    EXPECT_TRUE(listed.contains(name)) << name;
}

TEST(Convert, TheTableIsTheXml) {
  std::ifstream file(KCG_SANDBOX_XML);
  const std::string xml(std::istreambuf_iterator<char>(file), {});
  std::set<std::string> in_xml;
  const std::string_view mark = "<property name=\"";
  for (auto at = xml.find(mark); at != std::string::npos; at = xml.find(mark, at + 1)) {
    const auto begin = at + mark.size();
    in_xml.insert(xml.substr(begin, xml.find('"', begin) - begin));
  }
  const auto names = property_names();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()), in_xml);
  EXPECT_FALSE(in_xml.empty());
}

TEST(Convert, AConditionKeepsItsOwnSeverity) {
  SandboxView view;
  view.conditions = {{{ConditionName::parent_undersized, "a guess", Severity::info}, 1},
                     {{ConditionName::parent_undersized, "declared"}, 2}};
  EXPECT_EQ(view_from(everything(view)).value().conditions, view.conditions);
}

TEST(Convert, UnlimitedAndUnknownAreTheLargestNumber) {
  EXPECT_EQ(property({}, "MemoryLimit").get<std::uint64_t>(), UINT64_MAX);
  EXPECT_EQ(property({}, "MemoryCurrent").get<std::uint64_t>(), UINT64_MAX);
  Resources given;
  given.memory_limit = -1;
  given.cpu_quota = 0;
  Properties limits;
  add_resources(limits, given);
  EXPECT_EQ(limits.at("MemoryLimit").get<std::uint64_t>(), UINT64_MAX);
  EXPECT_EQ(limits.at("CpuQuota").get<std::uint64_t>(), UINT64_MAX);
  EXPECT_EQ(resources_from(limits).memory_limit, -1);
}

TEST(Convert, AmountsBeyondTheSignedRangeStayPositive) {
  Properties limits;
  limits["MemoryLimit"] = sdbus::Variant(std::uint64_t{UINT64_MAX - 1});
  EXPECT_EQ(resources_from(limits).memory_limit, INT64_MAX);
}

TEST(Convert, LimitsAreThoseOfTheSandboxGroup) {
  using TextMap = std::map<std::string, std::string>;
  EXPECT_EQ(property(samples::degraded(), "Limits").get<TextMap>(),
            (TextMap{{"memory.max", "max"}}));
  EXPECT_EQ(property(samples::legacy(), "Limits").get<TextMap>(),
            (TextMap{{"cpu.cfs_quota_us", "50000"}}));
}

TEST(Convert, ChangesAreFoundPropertyByProperty) {
  const struct {
    const char* name;
    void (*change)(SandboxView&);
    std::vector<std::string> changed;
  } rows[] = {
      {"nothing", [](SandboxView&) {}, {}},
      {"state", [](SandboxView& v) { v.state = SandboxState::placed; }, {"State"}},
      {"usage is not announced", [](SandboxView& v) { v.memory_used = 1; }, {}},
      {"limit", [](SandboxView& v) { v.memory_limit.reset(); }, {"MemoryLimit"}},
      {"thread", [](SandboxView& v) { v.threads[0].placed = true; }, {"Threads"}},
      {"limits in force",
       [](SandboxView& v) { v.groups[0].limits["memory.max"] = "1"; },
       {"Limits", "Groups"}},
      {"limits of a child",
       [](SandboxView& v) { v.groups[1].limits["cpu.max"] = "1"; },
       {"Groups"}},
      {"condition", [](SandboxView& v) { v.conditions.pop_back(); }, {"Conditions"}},
      {"overhead",
       [](SandboxView& v) { v.overhead = {1, 1, OverheadSource::pod}; },
       {"MemoryOverhead", "MemoryOverheadSource", "CpuOverheadMilli"}},
  };
  for (const auto& row : rows) {
    auto after = samples::degraded();
    row.change(after);
    EXPECT_EQ(changed_properties(samples::degraded(), after), row.changed) << row.name;
  }
}

TEST(Convert, WhatIsNotKnownIsPassedOver) {
  auto all = everything(samples::degraded());
  all["SomethingNew"] = sdbus::Variant(std::string("x"));
  all["Layout"] = sdbus::Variant(std::string("a-new-layout"));
  auto conditions = all.at("Conditions").get<PropertiesList>();
  conditions.push_back({{"Name", sdbus::Variant(std::string("NewCondition"))}});
  all["Conditions"] = sdbus::Variant(conditions);
  const auto back = view_from(all);
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, samples::degraded());
}

TEST(Convert, WrongTypesAreErrorsThatNameTheProperty) {
  for (const auto& name : property_names()) {
    if (name == "Limits") continue;  // follows from others, not read back
    const auto back = view_from({{name, sdbus::Variant(std::int16_t{7})}});
    ASSERT_FALSE(back) << name;
    EXPECT_NE(back.error().text.find(name), std::string::npos) << back.error().text;
  }
}

TEST(Convert, TextIsCleanedForTheBus) {
  auto view = samples::degraded();
  view.pod_name = "a\xff";
  view.threads[0].comm = std::string("b\0c", 3);
  view.groups[0].limits["k\xff"] = "\x80";
  const auto back = view_from(everything(view));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->pod_name, "a\xef\xbf\xbd");
  EXPECT_EQ(back->threads[0].comm,
            "b\xef\xbf\xbd"
            "c");
}

TEST(Stats, SumsByClass) {
  const auto seen = stats(samples::degraded());
  EXPECT_EQ(seen.at("CpuUsec").get<std::uint64_t>(), 169'230'000U);
  EXPECT_EQ(seen.at("CpuUsecVcpu").get<std::uint64_t>(), 84'830'000U);
  EXPECT_EQ(seen.at("CpuUsecShim").get<std::uint64_t>(), 42'000'000U);
  EXPECT_EQ(seen.at("MisplacedThreads").get<std::uint32_t>(), 2U);
  EXPECT_FALSE(stats({}).contains("MemoryCurrent"));
}

TEST(Property, UnknownNameThrows) { EXPECT_THROW((void)property({}, "Nonsense"), sdbus::Error); }

TEST(BusConvert, UsageHasAKeyForWhatIsKnown) {
  EXPECT_TRUE(usage_properties({}).empty());
  SandboxUsage usage;
  usage.memory.guest_memory = GuestMemory::private_memory;
  usage.memory.overhead = 7;
  usage.memory.at = 8;
  usage.overhead_peak = 9;
  usage.counters.by_class[3].throttled_periods = 10;
  usage.counters.io = {11, 12};
  const auto out = usage_properties(usage);
  EXPECT_EQ(out.size(), 7U);
  EXPECT_EQ(out.at("GuestMemory").get<std::string>(), "private");
  const struct {
    const char* key;
    std::uint64_t value;
  } rows[] = {{"MemoryOverheadUsedBytes", 7}, {"MeasuredAt", 8},
              {"MemoryOverheadPeakBytes", 9}, {"CpuThrottledPeriodsShim", 10},
              {"IoStalledUsec", 11},          {"IoStalled10sPermyriad", 12}};
  for (const auto& row : rows)
    EXPECT_EQ(out.at(row.key).get<std::uint64_t>(), row.value) << row.key;
  // Who reads them gets the numbers back.
  const auto back = numbers_from(out);
  EXPECT_EQ(back.memory.overhead, 7U);
  EXPECT_EQ(back.overhead_peak, 9U);
  EXPECT_EQ(back.counters, usage.counters);
  EXPECT_THROW((void)numbers_from({{"OomKills", sdbus::Variant(std::string("1"))}}), sdbus::Error);
}

}  // namespace
}  // namespace kcg::bus
