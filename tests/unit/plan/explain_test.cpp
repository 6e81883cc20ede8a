// SPDX-License-Identifier: Apache-2.0
#include "plan/explain.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/desired.hpp"
#include "support/sandbox_world.hpp"

namespace kcg::test {
namespace {

constexpr std::uint64_t kMib = 1024 * 1024;

class Explain : public testing::Test {
 protected:
  Explain() : world_(scenario()) {
    world_.assembled.inputs.bundle->overhead_annotation = "100";
    world_.boot();
    (void)world_.pass();
  }
  static Scenario scenario() {
    Scenario s;
    s.strangers = 0;
    s.config.origins.by_name = {{"sizing.memory", "/etc/kata-cgroupd/config.toml:7"}};
    return s;
  }
  static std::vector<Explanation> all_of(SandboxWorld& world) {
    return explanations(world.scenario.config, world.look().observed);
  }
  /// Looks again, and finds one block.
  Explanation block(const std::string& subject) {
    all_ = all_of(world_);
    for (const auto& e : all_)
      if (e.subject == subject) return e;
    ADD_FAILURE() << "no block about " << subject;
    return {};
  }
  static std::string source(const Explanation& e, const std::string& input) {
    for (const auto& one : e.inputs)
      if (one.name == input) return one.source;
    return "(no such input)";
  }
  SandboxWorld world_;
  std::vector<Explanation> all_;
};

TEST_F(Explain, ALimitNamesItsGroupAndWhatIsInForce) {
  const auto e = block("memory.max of sandbox");
  EXPECT_EQ(e.path, world_.expected_sandbox_group());
  EXPECT_EQ(e.value, std::to_string(868 * kMib));
  EXPECT_EQ(e.in_force, e.value);
  EXPECT_EQ(source(e, "sizing.memory"), "configuration (/etc/kata-cgroupd/config.toml:7)");
  const auto quota = block("cpu.max of vcpu");
  EXPECT_EQ(quota.path, world_.expected_sandbox_group() + "/vcpu");
  EXPECT_EQ(quota.in_force, "50000 100000");
  EXPECT_EQ(source(quota, "sizing.vcpu_quota"), "configuration (default)");
}

TEST_F(Explain, WhatSomebodyElseWroteIsShown) {
  world_.tree.set_file({"v2", CgroupPath::parse(world_.expected_sandbox_group() + "/vcpu").value()},
                       "cpu.max", "7000 100000");
  const auto e = block("cpu.max of vcpu");
  EXPECT_EQ(e.in_force, "7000 100000");
  EXPECT_EQ(e.value, "50000 100000");
}

TEST_F(Explain, MemoryThatStaysIsExplained) {
  world_.assembled.inputs.containers.clear();
  world_.assembled.inputs.bundle->total_memory = 64 * kMib;
  world_.record.history = {};  // as after a restart of the daemon
  const auto e = block("memory.max of sandbox");
  EXPECT_EQ(e.value, std::to_string(868 * kMib));
  EXPECT_NE(e.formula.find("= 440401920; 910163968 stays: it only grows while the VM lives"),
            std::string::npos)
      << e.formula;
}

TEST_F(Explain, WhatIsNotWrittenIsExplained) {
  const GroupRef top{"v2", CgroupPath::parse(world_.expected_sandbox_group()).value()};
  world_.tree.set_file(top, "memory.max", "max");
  world_.tree.set_file(top, "memory.current", "4294967296");
  const auto e = block("memory.max of sandbox");
  EXPECT_EQ(e.in_force, "max");
  EXPECT_TRUE(e.formula.ends_with("; not written, the conditions say why")) << e.formula;
}

TEST_F(Explain, PlacementOfSandboxAndThreads) {
  const auto e = block("placement");
  EXPECT_EQ(e.value, world_.expected_sandbox_group());
  EXPECT_EQ(source(e, "layout"), "Kata's state of the sandbox, SandboxCgroupOnly");
  EXPECT_EQ(source(e, "cgroupsPath"), world_.assembled.inputs.bundle->directory + "/config.json");
  const auto vcpu = block("placement of vcpu threads");
  EXPECT_EQ(vcpu.value, world_.expected_sandbox_group() + "/vcpu");
  EXPECT_EQ(vcpu.formula, "2 threads of class vcpu");
  EXPECT_EQ(source(vcpu, "threads"), "told apart by: kvm; see 'cgctl threads'");
  EXPECT_EQ(source(vcpu, "placement.thread_groups"), "configuration (default)");
  const auto blocks = std::count_if(all_.begin(), all_.end(), [](const Explanation& one) {
    return one.subject.starts_with("placement");
  });
  EXPECT_EQ(blocks, 5) << "one for the sandbox and one for each class";
}

TEST_F(Explain, EveryBlockSaysAllThatAReaderNeeds) {
  for (const auto& e : all_of(world_)) {
    EXPECT_FALSE(e.value.empty()) << e.subject;
    EXPECT_FALSE(e.formula.empty()) << e.subject;
    EXPECT_FALSE(e.change.empty()) << e.subject;
    EXPECT_FALSE(e.inputs.empty()) << e.subject;
    for (const auto& input : e.inputs)
      EXPECT_FALSE(input.source.empty()) << e.subject << input.name;
  }
}

TEST_F(Explain, TheLayoutsWordAndItsPlace) {
  struct {
    const char* name;
    void (*say)(SandboxWorld&);
    const char* source;
  } const rows[] = {
      {"config",
       [](SandboxWorld& w) {
         w.scenario.config.layout.sandbox_cgroup_only = true;
         w.scenario.config.origins.by_name["layout.sandbox_cgroup_only"] = "/c.toml:3";
       },
       "configuration (/c.toml:3)"},
      {"Kata's configuration",
       [](SandboxWorld& w) {
         w.assembled.inputs.kata->sandbox_cgroup_only.reset();
         w.assembled.inputs.kata_config_only = true;
         w.assembled.inputs.kata_config_where = "/etc/kata.toml:12";
       },
       "Kata's /etc/kata.toml:12"},
      {"an annotation that may not say so",
       [](SandboxWorld& w) {
         w.assembled.inputs.kata->sandbox_cgroup_only.reset();
         w.assembled.inputs.bundle->layout_annotation = "false";
         w.assembled.inputs.bundle->directory = "/b";
       },
       "nobody else says otherwise; annotation io.katacontainers.config.runtime."
       "sandbox_cgroup_only=\"false\" in /b/config.json is not followed: "
       "layout.allow_annotation is false"},
      {"nobody", [](SandboxWorld& w) { w.assembled.inputs.kata->sandbox_cgroup_only.reset(); },
       "nobody says otherwise"},
  };
  for (const auto& row : rows) {
    SandboxWorld world(scenario());
    row.say(world);
    world.boot();
    const auto all = all_of(world);
    const auto e = std::find_if(all.begin(), all.end(),
                                [](const auto& one) { return one.subject == "placement"; });
    ASSERT_NE(e, all.end());
    EXPECT_EQ(source(*e, "layout"), row.source) << row.name;
  }
}

}  // namespace
}  // namespace kcg::test
