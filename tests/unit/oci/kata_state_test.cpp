// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "oci/bundle_json.hpp"
#include "unit/oci/test_data.hpp"

namespace kcg {
namespace {

KataState go(const std::string& name) {
  auto state = parse_kata_state(test_data("kata/" + name), true);
  EXPECT_TRUE(state) << state.error().text;
  return state.value_or(KataState{});
}

constexpr const char* kStateSandbox =
    "695392332fd660c1649385c4e0e23257a8a539b86fafe8e9bb69ae58b9d273a9";
constexpr const char* kStateContainer =
    "28f81654294b1099f07366e7f8f4b52344b25dc920c79949d8529ae289f1765a";

TEST(KataState, GoShim) {
  const auto state = go("go-cgroupfs-only.json");
  EXPECT_EQ(state.state, "running");
  EXPECT_EQ(state.sandbox_cgroup_only, true);
  EXPECT_EQ(state.vcpus_pinning, false);
  EXPECT_EQ(state.hypervisor, "qemu");
  EXPECT_EQ(state.boot_memory_mib, 512U);
  EXPECT_EQ(state.hotplugged_memory_mib, 128U);
  ASSERT_EQ(state.containers.size(), 2U);
  const auto& limits = state.containers.at(kStateContainer);
  EXPECT_EQ(limits.memory_limit, 134217728);
  EXPECT_EQ(limits.cpu_quota, 100000);
  EXPECT_EQ(limits.cpu_period, 100000U);
  EXPECT_EQ(limits.cpu_shares, 1024U);
  EXPECT_EQ(state.containers.at(kStateSandbox).memory_limit, std::nullopt);
}

TEST(KataState, GoShimLegacy) {
  EXPECT_EQ(go("go-systemd-only.json").sandbox_cgroup_only, true);
  EXPECT_EQ(go("go-systemd-legacy.json").sandbox_cgroup_only, false);
  EXPECT_EQ(go("go-cgroupfs-legacy.json").sandbox_cgroup_only, false);
}

TEST(KataState, GoShimPodLess) {
  const auto state = go("go-pod-less.json");
  EXPECT_EQ(state.containers.at("single").cpu_shares, 1024U);
}

TEST(KataState, RuntimeRs) {
  const auto state = parse_kata_state(test_data("kata/rs-dragonball.json"), false);
  ASSERT_TRUE(state) << state.error().text;
  EXPECT_EQ(state->hypervisor, "dragonball");
  EXPECT_EQ(state->sandbox_cgroup_only, true);
  EXPECT_EQ(state->vcpus_pinning, false);
  EXPECT_EQ(state->boot_memory_mib, 2048U);
  EXPECT_TRUE(state->containers.empty());
}

TEST(KataState, EveryFieldMayBeAbsent) {
  for (const bool shim : {true, false}) {
    EXPECT_EQ(parse_kata_state("{}", shim), KataState{});
    EXPECT_EQ(parse_kata_state(R"({"Config":null,"HypervisorState":null,"resource":null,
                                   "hypervisor":null})",
                               shim),
              KataState{});
  }
  const auto state = parse_kata_state(
      R"({"Config":{"HypervisorType":"clh","ContainerConfigs":[{"Resources":{}},{"ID":"x"}]},
          "HypervisorState":{"Type":"","Pid":0,"VirtiofsDaemonPid":-1}})",
      true);
  ASSERT_TRUE(state) << state.error().text;
  EXPECT_EQ(state->hypervisor, "clh");
  EXPECT_EQ(state->containers.size(), 1U) << "a container without an id is nobody's";
}

TEST(KataState, TheHypervisorThatRunsCountsBeforeTheOneThatWasToRun) {
  const auto state = parse_kata_state(
      R"({"Config":{"HypervisorType":"qemu"},"HypervisorState":{"Type":"clh"}})", true);
  EXPECT_EQ(state->hypervisor, "clh");
}

TEST(KataState, OfAContainer) {
  EXPECT_EQ(parse_container_state(R"({"State":"stopped","Rootfs":{"State":"x"}})"), "stopped");
  EXPECT_EQ(parse_container_state(R"({"Rootfs":{"State":"x"}})"), "");
  EXPECT_FALSE(parse_container_state(R"({"State":1})"));
  EXPECT_FALSE(parse_container_state(R"({"State":"stop)"));
}

TEST(KataState, Refuses) {
  const struct {
    const char *name, *json;
    bool go;
    const char* named;
  } rows[] = {
      {"half written", R"({"State":"run)", true, "not JSON"},
      {"empty", "", true, "not JSON"},
      {"list", "[]", true, "top level"},
      {"fraction", R"({"HypervisorState":{"HotpluggedMemory":1.5}})", true,
       "HypervisorState.HotpluggedMemory: 1.5"},
      {"flag as text", R"({"Config":{"SandboxCgroupOnly":"true"}})", true,
       "Config.SandboxCgroupOnly"},
      {"memory beyond 32 bits", R"({"HypervisorState":{"HotpluggedMemory":4294967296}})", true,
       "HypervisorState.HotpluggedMemory"},
      {"negative limit is a number", R"({"Config":{"ContainerConfigs":[{"ID":"a","Resources":
        {"cpu":{"period":-1}}}]}})",
       true, "Config.ContainerConfigs[0].Resources.cpu.period: -1"},
      {"runtime-rs flag", R"({"resource":{"cgroup_state":{"sandbox_cgroup_only":1}}})", false,
       "resource.cgroup_state.sandbox_cgroup_only"},
      {"runtime-rs memory", R"({"hypervisor":{"config":{"default_memory":-1}}})", false,
       "hypervisor.config.default_memory"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto state = parse_kata_state(row.json, row.go);
    ASSERT_FALSE(state);
    EXPECT_NE(state.error().text.find(row.named), std::string::npos) << state.error().text;
  }
}

}  // namespace
}  // namespace kcg
