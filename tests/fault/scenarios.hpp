// SPDX-License-Identifier: Apache-2.0
//
// The sandboxes that faults are injected into: each form on each hierarchy once. And how a pass of
// theirs is judged, whatever happens to it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/allowed.hpp"
#include "support/sandbox_world.hpp"

namespace kcg::test {

/// Value: one named row.
struct FaultRow {
  std::string name;
  Scenario scenario;
};

[[nodiscard]] inline std::vector<FaultRow> fault_rows() {
  std::vector<FaultRow> rows;
  const auto add = [&rows](const char* name, HierarchyMode mode, auto change) {
    Scenario scenario;
    scenario.mode = mode;
    scenario.strangers = 1;
    // One hierarchy of each kind: with all six the same is only proven more slowly.
    if (mode != HierarchyMode::v2) scenario.v1_controllers = {"cpu", "cpuset", "memory"};
    change(scenario);
    rows.push_back({name, scenario});
  };
  add("v2_plain", HierarchyMode::v2, [](Scenario&) {});
  add("v2_with_device_programs", HierarchyMode::v2, [](Scenario& s) { s.device_programs = 2; });
  add("v2_nested", HierarchyMode::v2, [](Scenario& s) { s.systemd = true; });
  add("v2_own_scope", HierarchyMode::v2, [](Scenario& s) {
    s.systemd = true;
    s.kata_only = false;
    s.config.layout.sandbox_cgroup_only = true;
  });
  add("v2_without_thread_groups", HierarchyMode::v2,
      [](Scenario& s) { s.config.placement.thread_groups = false; });
  add("v2_legacy", HierarchyMode::v2,
      [](Scenario& s) { s.config.layout.sandbox_cgroup_only = false; });
  add("v2_pod_less", HierarchyMode::v2, [](Scenario& s) { s.pod_less = true; });
  add("v2_kata_takes_back", HierarchyMode::v2, [](Scenario& s) { s.kata_only = false; });
  add("v1_plain", HierarchyMode::v1, [](Scenario&) {});
  add("v1_nested", HierarchyMode::hybrid, [](Scenario& s) { s.systemd = true; });
  add("v1_own_scope", HierarchyMode::v1, [](Scenario& s) {
    s.systemd = true;
    s.kata_only = false;
    s.pod_less = true;
    s.config.layout.sandbox_cgroup_only = true;
  });
  add("v1_legacy", HierarchyMode::v1, [](Scenario& s) { s.kata_only = false; });
  add("v1_pod_less", HierarchyMode::v1, [](Scenario& s) { s.pod_less = true; });
  return rows;
}

[[nodiscard]] inline Pass judged_pass(SandboxWorld& world) {
  auto pass = world.pass();
  for (const auto& round : pass.rounds)
    EXPECT_EQ(forbidden_text(world.scenario.config, round.observed, round.plan), "");
  world.end_jobs();
  return pass;
}

}  // namespace kcg::test
