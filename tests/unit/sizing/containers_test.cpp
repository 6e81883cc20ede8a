// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sizing/containers.hpp"
#include "sizing/numbers.hpp"
#include "sizing/overhead.hpp"
#include "sizing/sizing.hpp"
#include "sizing_rows.hpp"

namespace kcg {
namespace {

TEST(Sizing, MemorySumIsOfThisMoment) {
  const auto row =
      json::parse(R"({"containers": [{"mib": 1}], "annotation": "350", "history_mib": 100})");
  const auto sizing = size(config_of(row), inputs_of(row), request_of(row));
  EXPECT_EQ(sizing.memory_sum, kMib);
  EXPECT_EQ(sizing.memory_max, (2048 + 450) * kMib);
  const auto huge = json::parse(R"({"containers": [{"bytes": 9223372036854771712}]})");
  EXPECT_EQ(size({}, inputs_of(huge), {}).memory_sum, std::nullopt) << "v1's way to say unlimited";
  const auto none = json::parse(R"({"annotation": "350", "history_mib": 100})");
  EXPECT_EQ(size(config_of(none), inputs_of(none), request_of(none)).memory_sum, std::nullopt);
}

std::vector<std::string> counted(const SandboxInputs& inputs) {
  std::vector<std::string> out;
  for (const auto& c : counted_containers(inputs)) {
    const char* source = c.source == ResourceSource::registration ? "registration"
                         : c.source == ResourceSource::nri        ? "nri"
                         : c.source == ResourceSource::kata_state ? "kata"
                                                                  : "bundle";
    out.push_back(c.id + " " + source);
  }
  return out;
}

TEST(Sizing, StoppedContainersDoNotCount) {
  auto pod = inputs_of(json::parse(
      R"({"annotation": "100", "containers": [{"mib": 512, "quota": 50000}, {"mib": 64, "quota": 25000}]})"));
  pod.kata = KataState();
  pod.kata->stopped = {"c1"};
  EXPECT_EQ(counted(pod), (std::vector<std::string>{"c2 bundle"}));
  SizingRequest request;
  request.history.container_started = true;
  const auto sizing = size({}, pod, request);
  EXPECT_EQ(sizing.vcpu, (std::vector<WantedFile>{{"cpu.max", "25000 100000"}}));
  EXPECT_EQ(sizing.memory_max, (2048 + 164) * kMib);
  request.history.largest_memory_sum = 576 * kMib;
  EXPECT_EQ(size({}, pod, request).memory_max, (2048 + 676) * kMib)
      << "the guest gives nothing back";
  const auto all = known_containers(pod);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_TRUE(all[0].stopped);
  EXPECT_FALSE(all[1].stopped);

  auto single = inputs_of(json::parse(R"({"pod_less": true, "containers": [{"mib": 64}]})"));
  single.kata = KataState();
  single.kata->stopped = {"s1"};
  EXPECT_EQ(counted_containers(single).size(), 1U) << "it is the sandbox";
}

/// Kata forgets an ended container before its bundle goes.
TEST(Sizing, AContainerThatHasEndedDoesNotCountAgain) {
  auto pod = inputs_of(json::parse(R"({"containers": [{"quota": 50000}, {"quota": 25000}]})"));
  pod.containers[0].ended = true;
  EXPECT_EQ(counted(pod), (std::vector<std::string>{"c2 bundle"}));
  SizingRequest request;
  request.history.container_started = true;
  EXPECT_EQ(size({}, pod, request).vcpu, (std::vector<WantedFile>{{"cpu.max", "25000 100000"}}));
}

TEST(Sizing, AnUnreadableContainerIsUnlimitedUnlessSomebodyElseKnows) {
  auto pod = inputs_of(json::parse(R"({"containers": [{"mib": 512}, {}], "annotation": "350"})"));
  pod.containers[1].unreadable = "/run/bundles/c2/config.json: not JSON";
  const auto* subject = "memory.max of sandbox";
  auto sizing = size({}, pod, {});
  EXPECT_EQ(find(sizing, subject)->formula, "unlimited: the bundle of container c2 cannot be read");
  pod.kata = KataState();
  pod.kata->containers["c2"].memory_limit = 256 * static_cast<std::int64_t>(kMib);
  EXPECT_EQ(size({}, pod, {}).memory_max, (2048 + 512 + 256 + 350) * kMib);
}

TEST(Sizing, CrioTellsThePodsOwnOverhead) {
  auto pod = inputs_of(json::parse(R"({"containers": [{"mib": 512}], "annotation": "64"})"));
  pod.bundle->pod_overhead_memory = 160 * kMib;
  pod.bundle->pod_overhead_cpu_milli = 300;
  auto sizing = size({}, pod, {});
  EXPECT_EQ(sizing.memory_max, (2048 + 512 + 160) * kMib);
  EXPECT_EQ(sizing.overhead, (Overhead{160 * kMib, 300, OverheadSource::pod}));
  pod.registration = Registration();
  pod.registration->memory_overhead = 200 * kMib;
  EXPECT_EQ(size({}, pod, {}).memory_max, (2048 + 512 + 200) * kMib) << "the bus is asked first";
}

TEST(Sizing, NriTellsThePodsOwnOverhead) {
  auto pod = inputs_of(json::parse(R"({"containers": [{"mib": 512}]})"));
  EXPECT_EQ(size({}, pod, {}).memory_max, std::nullopt);
  pod.node = NodeData();
  pod.node->overhead = {160 * kMib, 300};
  const auto sizing = size({}, pod, {});
  EXPECT_EQ(sizing.memory_max, (2048 + 512 + 160) * kMib);
  EXPECT_EQ(sizing.overhead, (Overhead{160 * kMib, 300, OverheadSource::pod}));
  const auto* found = find(sizing, "memory.max of sandbox");
  ASSERT_NE(found, nullptr);
  EXPECT_TRUE(std::any_of(found->inputs.begin(), found->inputs.end(), [](const auto& input) {
    return input.source == "the pod's own overhead (NRI)";
  }));
  pod.bundle->pod_overhead_memory = 200 * kMib;
  EXPECT_EQ(size({}, pod, {}).memory_max, (2048 + 512 + 200) * kMib) << "the bundle counts";
}

TEST(Sizing, NriTellsAnAnnotationThatTheEngineDoesNotHandOn) {
  auto pod = inputs_of(json::parse(R"({"containers": [{"mib": 512}]})"));
  pod.node = NodeData();
  pod.node->overhead_annotation = "200";
  EXPECT_EQ(size({}, pod, {}).memory_max, (2048 + 512 + 200) * kMib);
  EXPECT_EQ(size({}, pod, {}).overhead.source, OverheadSource::annotation);
  pod.node->overhead_annotation = "200Mi";
  const auto sizing = size({}, pod, {});
  ASSERT_FALSE(sizing.conditions.empty());
  EXPECT_EQ(sizing.conditions[0].condition, ConditionName::invalid_annotation);
  EXPECT_NE(sizing.conditions[0].text.find("in the pod (NRI)"), std::string::npos);
  pod.bundle->overhead_annotation = "300";
  EXPECT_EQ(size({}, pod, {}).memory_max, (2048 + 512 + 300) * kMib) << "the bundle counts";
}

TEST(Sizing, CountsContainersAndPicksTheirFirstSource) {
  using List = std::vector<std::string>;
  auto pod = inputs_of(json::parse(R"({"containers": [{"mib": 1}, {"mib": 1}]})"));
  EXPECT_EQ(counted(pod), (List{"c1 bundle", "c2 bundle"}));
  pod.kata = KataState();
  pod.kata->containers["s1"] = {};     // the pause container
  pod.kata->containers["c1"] = {};     // updated in place
  pod.kata->containers["ended"] = {};  // its bundle is gone
  EXPECT_EQ(counted(pod), (List{"c1 kata", "c2 bundle"}));
  pod.node = NodeData();
  pod.node->containers["c1"] = {};      // an update that Kata has not noted yet
  pod.node->containers["nobody"] = {};  // of which there is no bundle
  EXPECT_EQ(counted(pod), (List{"c1 nri", "c2 bundle"}));
  pod.registration = Registration();
  pod.registration->containers["c1"] = {};
  pod.registration->containers["s1"] = {};
  pod.registration->containers["told"] = {};
  EXPECT_EQ(counted(pod), (List{"c1 registration", "c2 bundle", "told registration"}));

  auto single = inputs_of(json::parse(R"({"pod_less": true, "containers": [{"mib": 1}]})"));
  EXPECT_EQ(counted(single), (List{"s1 bundle"}));
  single.kata = KataState();
  single.kata->containers["s1"] = {};
  EXPECT_EQ(counted(single), (List{"s1 kata"}));

  SandboxInputs no_bundle;
  no_bundle.id = id_of("s1");
  no_bundle.registration = Registration();
  no_bundle.registration->pod.uid = "u";
  no_bundle.kata = single.kata;
  no_bundle.kata->containers["c9"] = {};
  EXPECT_EQ(counted(no_bundle), (List{"c9 kata"}));
}

}  // namespace
}  // namespace kcg
