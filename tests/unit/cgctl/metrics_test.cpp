// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/metrics/families.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/sample_views.hpp"

namespace kcg::cgctl {
namespace {

DaemonState running() {
  DaemonState state;
  state.running = true;
  state.version = "9.9";
  state.mode = "enforce";
  state.hierarchy = "v2";
  return state;
}

/// All that can be known is.
SandboxUsage whole_usage() {
  SandboxUsage usage;
  auto& memory = usage.memory;
  memory.used = memory.guest = memory.cache = memory.overhead = usage.overhead_peak = 1 << 20;
  auto& counters = usage.counters;
  counters.cpu_usec = counters.oom_kills = 2'500'000;
  for (auto& cpu : counters.by_class) cpu = {1'500'000, 250'000, 3};
  counters.memory = counters.cpu = counters.io = {1000, 1};
  return usage;
}

std::string text(const DaemonState& daemon, const std::vector<SandboxView>& views = {},
                 const std::map<std::string, SandboxUsage>& usage = {}) {
  return metrics_text(metric_families(daemon, views, usage));
}

bool has(const std::string& all, const std::string& line) {
  return ("\n" + all).find("\n" + line + "\n") != std::string::npos;
}

TEST(Metrics, OfADeadDaemonThatItIsDead) {
  const auto all = text({});
  EXPECT_TRUE(has(all, "kata_cgroupd_up 0")) << all;
  EXPECT_EQ(metric_families({}, {}, {}).size(), 1U);
}

TEST(Metrics, OfTheDaemon) {
  auto daemon = running();
  daemon.problems = {"one", "two"};
  daemon.parts = {{"groups", "working"}, {"NRI", "off"}, {"bundles", "fallback"}, {"bus", "down"}};
  daemon.raised = {{"OomKilled", 3}, {"WriteFailed", 0}};
  daemon.placements = PlacementTimes{3, 4100, 12'200, 20'400, {{5000, 2}, {20'000, 3}}};
  const auto all = text(daemon);
  for (const auto* line :
       {"kata_cgroupd_up 1", "kata_cgroupd_problems 2", "kata_cgroupd_sandboxes 0",
        "kata_cgroupd_info{version=\"9.9\",mode=\"enforce\",hierarchy=\"v2\"} 1",
        "kata_cgroupd_source_up{source=\"groups\"} 1",
        "kata_cgroupd_source_up{source=\"bundles\"} 0", "kata_cgroupd_source_up{source=\"bus\"} 0",
        "kata_cgroupd_conditions_raised_total{condition=\"OomKilled\"} 3",
        "kata_cgroupd_conditions_raised_total{condition=\"WriteFailed\"} 0",
        "kata_cgroupd_placement_seconds_bucket{le=\"0.02\"} 3",
        "kata_cgroupd_placement_seconds_bucket{le=\"+Inf\"} 3",
        "kata_cgroupd_placement_seconds_count 3"})
    EXPECT_TRUE(has(all, line)) << line << "\n" << all;
  EXPECT_EQ(all.find("NRI"), std::string::npos) << "not wanted is not down";
}

TEST(Metrics, WhatIsNotKnownHasNoSeries) {
  SandboxView view;
  view.id = "abc";
  const auto all = text(running(), {view}, {{"abc", {}}});
  for (const auto* name : {"memory_used", "memory_limit", "overhead_used", "cpu_", "start_time",
                           "oom_kills", "condition{"})
    EXPECT_EQ(all.find(std::string("kata_sandbox_") + name), std::string::npos) << name << all;
  EXPECT_NE(all.find("kata_sandbox_info"), std::string::npos);
}

TEST(Metrics, LabelsOfOthersAreText) {
  SandboxView view;
  view.id = "abc";
  view.pod_name = "a\"b\\c\n\xff";
  const auto all = text(running(), {view});
  EXPECT_NE(all.find("pod=\"a\\\"b\\\\c\\n\xef\xbf\xbd\""), std::string::npos) << all;
}

/// The worst conditions are told, each once.
TEST(Metrics, ASandboxHasFortySeriesAtMost) {
  SandboxView view;
  view.id = "abc";
  view.created = 1;
  view.memory_used = view.memory_limit = 5;
  for (int round = 0; round < 2; ++round)
    for (const auto& one : all_conditions())
      view.conditions.push_back({{one.condition, "text", one.severity}, 1});
  std::size_t series = 0, errors = 0;
  for (const auto& family : metric_families(running(), {view}, {{"abc", whole_usage()}})) {
    if (!family.name.starts_with("kata_sandbox_")) continue;
    series += family.metric.size();
    if (family.name != "kata_sandbox_condition") continue;
    for (const auto& one : family.metric) errors += one.label.back().value == "error" ? 1U : 0U;
  }
  EXPECT_EQ(series, kMostSeriesOfSandbox);
  const auto& known = all_conditions();
  const auto all_errors = std::count_if(
      known.begin(), known.end(), [](const auto& one) { return one.severity == Severity::error; });
  EXPECT_EQ(errors, std::min<std::size_t>(static_cast<std::size_t>(all_errors), 14U));
}

TEST(Metrics, TimesAreInSeconds) {
  SandboxView view;
  view.id = "abc";
  const auto all = text(running(), {view}, {{"abc", whole_usage()}});
  const std::string labels = "{namespace=\"\",pod=\"\",sandbox=\"abc\",handler=\"\"";
  EXPECT_TRUE(has(all, "kata_sandbox_cpu_usage_seconds_total" + labels + "} 2.5")) << all;
  EXPECT_TRUE(has(all, "kata_sandbox_cpu_seconds_total" + labels + ",class=\"vcpu\"} 1.5"));
  EXPECT_TRUE(
      has(all, "kata_sandbox_cpu_throttled_seconds_total" + labels + ",class=\"io\"} 0.25"));
}

}  // namespace
}  // namespace kcg::cgctl
