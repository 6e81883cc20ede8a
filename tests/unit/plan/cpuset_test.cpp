// SPDX-License-Identifier: Apache-2.0
#include "plan/cpuset.hpp"
#include "plan/desired.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "support/allowed.hpp"
#include "support/sandbox_world.hpp"

namespace kcg::test {
namespace {

// --- who says that Kata pins --------------------------------------------------------------------

struct Said {
  const char* name;
  std::optional<bool> state;
  const char* annotation;  ///< nullptr: none
  std::optional<bool> config;
  bool pins;
};

TEST(KataPins, IfAnybodySaysSoOrNobodyCanBeRead) {
  const Said rows[] = {
      {"state_yes", true, nullptr, false, true},
      {"state_no", false, nullptr, std::nullopt, false},
      {"state_is_what_came_of_the_configuration", false, nullptr, true, false},
      {"annotation_yes", std::nullopt, "true", false, true},
      {"annotation_as_go_reads_it", std::nullopt, "T", false, true},
      {"annotation_nobody_can_read", std::nullopt, "maybe", false, true},
      {"annotation_against_the_state", false, "true", false, true},
      {"annotation_no", std::nullopt, "false", std::nullopt, false},
      {"annotation_no_before_the_state", std::nullopt, "0", true, true},
      {"configuration_yes", std::nullopt, nullptr, true, true},
      {"configuration_no", std::nullopt, nullptr, false, false},
      {"nobody", std::nullopt, nullptr, std::nullopt, true},
  };
  for (const auto& row : rows) {
    SandboxInputs inputs;
    inputs.kata.emplace().vcpus_pinning = row.state;
    inputs.bundle.emplace();
    if (row.annotation != nullptr) inputs.bundle->pinning_annotation = row.annotation;
    inputs.kata_config_pins = row.config;
    EXPECT_EQ(kata_pins(inputs).pins, row.pins) << row.name;
  }
  EXPECT_TRUE(kata_pins(SandboxInputs{}).pins);
}

// --- the groups
// -----------------------------------------------------------------------------------

Scenario pinned_scenario(HierarchyMode mode, std::optional<bool> pins) {
  Scenario s;
  s.mode = mode;
  s.strangers = 0;
  s.id = "S";
  s.kata_pins = pins;
  return s;
}

class Cpus {
 public:
  explicit Cpus(const Scenario& s) : world(s) {
    world.boot();
    settle();
  }
  void settle() {
    for (int i = 0; i < 3; ++i) {
      const auto pass = world.pass();
      for (const auto& round : pass.rounds)
        EXPECT_EQ(forbidden_text(world.scenario.config, round.observed, round.plan), "");
      if (world.record.scope->pending) world.end_jobs();
    }
    EXPECT_EQ(world.misplaced(), "");
    EXPECT_EQ(describe(world.look().plan), "");
  }
  [[nodiscard]] std::string of(const std::string& group, const char* h = "v2") const {
    return world.tree.read({h, CgroupPath::parse(group).value()}, "cpuset.cpus").value_or("none");
  }
  [[nodiscard]] std::string ours(const char* below = "", const char* h = "v2") const {
    return of(world.expected_sandbox_group() + below, h);
  }
  void kata_gets(const char* cpus, const char* h = "v2") {
    world.tree.outside([&](CgroupTree& tree) {
      EXPECT_TRUE(
          tree.write({h, CgroupPath::parse(world.kata_group).value()}, "cpuset.cpus", cpus));
    });
  }
  SandboxWorld world;
};

TEST(CpuSeeds, OnV2WithPinningOnlyIoAndShimFollow) {
  for (const std::optional<bool> pins : {std::optional(true), std::optional<bool>()}) {
    Cpus cpus(pinned_scenario(HierarchyMode::v2, pins));
    cpus.kata_gets("1");
    cpus.settle();
    for (const auto* wide : {"", "/vcpu", "/vmm"}) EXPECT_EQ(cpus.ours(wide), "") << wide;
    for (const auto* narrow : {"/io", "/shim"}) EXPECT_EQ(cpus.ours(narrow), "1") << narrow;
    cpus.kata_gets("");
    cpus.settle();
    EXPECT_EQ(cpus.ours("/io"), "0-3") << "a group with members cannot be without";
  }
}

TEST(CpuSeeds, OnV2WithoutPinningTheSandboxGroupFollows) {
  Cpus cpus(pinned_scenario(HierarchyMode::v2, false));
  cpus.kata_gets("1-2");
  cpus.settle();
  EXPECT_EQ(cpus.ours(), "1-2");
  EXPECT_EQ(cpus.ours("/io"), "");
}

TEST(CpuSeeds, TheAnswerMayChangeDuringALife) {
  Cpus cpus(pinned_scenario(HierarchyMode::v2, false));
  cpus.kata_gets("1-2");
  cpus.settle();
  cpus.world.assembled.inputs.kata->vcpus_pinning = true;
  cpus.settle();
  EXPECT_EQ(cpus.ours(), "0-3");
  EXPECT_EQ(cpus.ours("/shim"), "1-2");
  cpus.world.assembled.inputs.kata->vcpus_pinning = false;
  cpus.settle();
  EXPECT_EQ(cpus.ours(), "1-2");
  EXPECT_EQ(cpus.ours("/shim"), "0-3") << "the group above holds it";
}

TEST(CpuSeeds, AScopeOfOurOwnFollowsTheSameRule) {
  for (const bool pins : {true, false}) {
    auto s = pinned_scenario(HierarchyMode::v2, pins);
    s.systemd = true;
    s.kata_only = false;
    s.config.layout.sandbox_cgroup_only = true;
    Cpus cpus(s);
    cpus.world.assembled.inputs.containers.front().resources.cpus = "1";
    cpus.settle();
    EXPECT_EQ(cpus.ours(), pins ? "" : "1");
    EXPECT_EQ(cpus.ours("/io"), pins ? "1" : "");
  }
}

TEST(CpuSeeds, NestedIsInherited) {
  auto s = pinned_scenario(HierarchyMode::v2, true);
  s.systemd = true;
  Cpus cpus(s);
  cpus.kata_gets("1");
  cpus.settle();
  for (const auto* group : {"", "/vcpu", "/io", "/shim"}) EXPECT_EQ(cpus.ours(group), "") << group;
}

TEST(CpuSeeds, WhatStandsStaysWhenKatasGroupGoesFirst) {
  for (const bool pins : {true, false}) {
    Cpus cpus(pinned_scenario(HierarchyMode::v2, pins));
    cpus.kata_gets("1");
    cpus.settle();
    cpus.world.tree.outside([&](CgroupTree& tree) {
      EXPECT_TRUE(tree.remove({"v2", CgroupPath::parse(cpus.world.kata_group).value()}));
    });
    EXPECT_EQ(describe(cpus.world.look().plan), "");
  }
}

TEST(CpuSeeds, TheShimIsNotNarrowedBeforeTheVmmHasLeftIt) {
  Cpus cpus(pinned_scenario(HierarchyMode::v2, true));
  cpus.world.tree.outside([&](CgroupTree& tree) {
    const auto shim = CgroupPath::parse(cpus.world.expected_sandbox_group() + "/shim").value();
    EXPECT_TRUE(tree.write({"v2", shim}, "cgroup.threads", std::to_string(cpus.world.vmm)));
  });
  cpus.kata_gets("1");
  for (const auto& step : cpus.world.look().plan.steps)
    EXPECT_FALSE(is<op::Seed>(step) && step.group.path.name() == "shim") << describe(step);
  cpus.settle();
  EXPECT_EQ(cpus.ours("/shim"), "1");
}

// --- v1
// -------------------------------------------------------------------------------------------

TEST(CpuSeeds, OnV1ATreeWithAGroupOfKatasIsLeftAlone) {
  for (const bool systemd : {false, true})
    for (const bool kata_only : {false, true}) {
      auto s = pinned_scenario(HierarchyMode::v1, true);
      s.systemd = systemd;
      s.kata_only = kata_only;
      Cpus cpus(s);
      for (const auto& write : cpus.world.tree.log())
        EXPECT_NE(write.group.hierarchy, "cpuset") << describe(write);
      for (const auto* to : {"1", "0-3", "2"}) {
        cpus.kata_gets(to, "cpuset");
        (void)cpus.world.plug_vcpu();
        cpus.settle();
        EXPECT_EQ(cpus.of(cpus.world.kata_group, "cpuset"), to);
      }
    }
}

TEST(CpuSeeds, OnV1NothingIsDecidedBeforeTheVmm) {
  auto s = pinned_scenario(HierarchyMode::v1, true);
  s.kata_cpuset = false;
  SandboxWorld world(s);
  world.start_shim();
  (void)world.pass();
  EXPECT_EQ(world.tree.group_of(world.shim, "cpuset"), "/system.slice/containerd.service");
  world.kata_makes_groups();
  world.start_vmm();
  world.start_threads();
  (void)world.pass();
  EXPECT_EQ(world.misplaced(), "") << "none of Kata's: split like cpu";
}

/// At the end Kata's groups go before the shim: its absence then says nothing.
TEST(CpuSeeds, OnV1NothingIsMadeAfterTheVmm) {
  Cpus cpus(pinned_scenario(HierarchyMode::v1, true));
  cpus.world.end_vmm();
  cpus.world.tree.outside([&](CgroupTree& tree) {
    const auto kata = CgroupPath::parse(cpus.world.kata_group).value();
    const auto procs = tree.read({"cpuset", kata}, "cgroup.procs").value_or("");
    for (const auto pid : words(procs))
      EXPECT_TRUE(tree.write({"cpuset", kata.parent()}, "cgroup.procs", pid)) << pid;
    EXPECT_TRUE(tree.remove({"cpuset", kata}));
  });
  (void)cpus.world.pass();
  for (const auto& write : cpus.world.tree.log())
    EXPECT_NE(write.group.hierarchy, "cpuset") << describe(write);
}

TEST(CpuSeeds, OnV1WithoutAGroupOfKatasTheContainersCpusCount) {
  for (const bool pins : {true, false}) {
    auto s = pinned_scenario(HierarchyMode::v1, pins);
    s.kata_cpuset = false;
    Cpus cpus(s);
    for (const auto* list : {"1", "1-2", "3"}) {
      cpus.world.assembled.inputs.containers.front().resources.cpus = list;
      cpus.settle();
      for (const auto* group : {"", "/vcpu", "/vmm"})
        EXPECT_EQ(cpus.ours(group, "cpuset"), pins ? "0-3" : list) << group;
      EXPECT_EQ(cpus.ours("/io", "cpuset"), list);
      EXPECT_EQ(cpus.ours("/shim", "cpuset"), list);
    }
  }
}

TEST(CpuSeeds, WhatAnEarlierVersionMadeOnV1IsWidenedAndGoesWithItsSandbox) {
  auto s = pinned_scenario(HierarchyMode::v1, true);
  s.kata_cpuset = false;
  Cpus cpus(s);  // as an earlier version did it
  auto& world = cpus.world;
  world.scenario.kata_cpuset = true;
  const auto top = world.expected_sandbox_group();
  world.tree.make_all("cpuset", world.kata_group);
  world.tree.outside([&](CgroupTree& tree) {
    for (const auto* below : {"/vcpu", "/io", "/vmm", "/shim", ""})
      EXPECT_TRUE(
          tree.write({"cpuset", CgroupPath::parse(top + below).value()}, "cpuset.cpus", "1"));
  });
  const auto was = world.tree.group_of(world.vcpus.front(), "cpuset");
  world.restart_daemon();
  cpus.settle();
  for (const auto* below : {"/vcpu", "/io", "/vmm", "/shim", ""})
    EXPECT_EQ(cpus.ours(below, "cpuset"), "0-3") << below;
  EXPECT_EQ(world.tree.group_of(world.vcpus.front(), "cpuset"), was) << "nobody is moved";
  world.end_all();
  (void)world.pass();
  EXPECT_EQ(world.marked_groups(), std::vector<std::string>{});
}

TEST(CpuSeeds, ExplainTellsWhoGoverns) {
  const auto told = [](HierarchyMode mode, bool pins) {
    Cpus cpus(pinned_scenario(mode, pins));
    std::string text;
    for (const auto& e : explanations(cpus.world.scenario.config, cpus.world.look().observed))
      if (e.subject == "CPUs") text = e.formula + "|" + e.inputs.at(0).source;
    return text;
  };
  EXPECT_NE(told(HierarchyMode::v1, true).find("left to Kata"), std::string::npos);
  EXPECT_NE(told(HierarchyMode::v2, true).find("only 'io' and 'shim' follow"), std::string::npos);
  EXPECT_NE(told(HierarchyMode::v2, false).find("the sandbox group follows"), std::string::npos);
  EXPECT_NE(told(HierarchyMode::v2, true).find("Kata's state"), std::string::npos);
}

}  // namespace
}  // namespace kcg::test
