// SPDX-License-Identifier: Apache-2.0
//
// size() against tests/data/sizing/golden.json (one row, one name), and what a table cannot say:
// sources, counted containers, derivations, the weight curves.
#include "plan/sizing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

namespace kcg {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMib = 1024 * 1024;

template <class T>
std::optional<T> maybe(const json& row, const char* key) {
  if (!row.contains(key)) return std::nullopt;
  return row.at(key).get<T>();
}

std::optional<std::uint64_t> maybe_mib(const json& row, const char* key) {
  const auto mib = maybe<std::uint64_t>(row, key);
  return mib ? std::optional(*mib * kMib) : std::nullopt;
}

Resources resources_of(const json& container) {
  Resources out;
  if (container.contains("mib"))
    out.memory_limit = container.at("mib").get<std::int64_t>() * static_cast<std::int64_t>(kMib);
  if (container.contains("bytes")) out.memory_limit = container.at("bytes").get<std::int64_t>();
  out.cpu_quota = maybe<std::int64_t>(container, "quota");
  out.cpu_period = maybe<std::uint64_t>(container, "period");
  out.cpu_shares = maybe<std::uint64_t>(container, "shares");
  return out;
}

SandboxId id_of(const char* text) { return SandboxId::parse(text).value(); }

/// A pod (or a pod-less container) with the given containers, as bundles tell it.
SandboxInputs inputs_of(const json& row) {
  SandboxInputs inputs;
  inputs.id = id_of("s1");
  Bundle sandbox;
  sandbox.id = sandbox.sandbox_id = "s1";
  sandbox.directory = "/run/bundles/s1";
  sandbox.handler = row.value("handler", "");
  sandbox.overhead_annotation = maybe<std::string>(row, "annotation");
  sandbox.total_memory = maybe_mib(row, "total_mib");
  sandbox.total_cpu_quota = maybe<std::int64_t>(row, "total_quota");
  sandbox.total_cpu_period = maybe<std::uint64_t>(row, "total_period");
  const bool single = row.value("pod_less", false);
  sandbox.type = single ? BundleType::single : BundleType::sandbox;
  int number = 0;
  for (const auto& container : row.value("containers", json::array())) {
    if (single) {
      sandbox.resources = resources_of(container);
      break;
    }
    Bundle bundle;
    bundle.id = "c" + std::to_string(++number);
    bundle.type = BundleType::container;
    bundle.sandbox_id = "s1";
    bundle.directory = "/run/bundles/" + bundle.id;
    bundle.resources = resources_of(container);
    inputs.containers.push_back(bundle);
  }
  inputs.bundle = sandbox;
  if (row.contains("pod_mib")) {
    inputs.registration = Registration();
    inputs.registration->memory_overhead = maybe_mib(row, "pod_mib");
  }
  if (row.contains("kata_boot_mib")) {
    inputs.kata = KataState();
    inputs.kata->boot_memory_mib = row.at("kata_boot_mib");
    inputs.kata->hotplugged_memory_mib = row.at("kata_hotplug_mib");
  }
  return inputs;
}

SizingRequest request_of(const json& row) {
  SizingRequest request;
  request.layout =
      row.value("layout", "sandbox-only") == "legacy" ? Layout::legacy : Layout::sandbox_only;
  request.unified = !row.value("v1", false);
  request.page_size = row.value("page", std::uint64_t{4096});
  request.vcpus = row.value("vcpus", 0U);
  request.local_vmm = row.value("local_vmm", true);
  request.vmm_memory = maybe_mib(row, "vm_mib");
  request.parent.smallest_memory_max = maybe_mib(row, "parent_memory_mib");
  request.parent.smallest_memory_group = "/kubepods/podU";
  request.parent.smallest_quota_us = maybe<std::uint64_t>(row, "parent_quota");
  request.parent.pod_shares = maybe<std::uint64_t>(row, "pod_shares");
  request.parent.pod_weight = maybe<std::uint64_t>(row, "pod_weight");
  request.history.largest_memory_sum = maybe_mib(row, "history_mib");
  request.history.container_started = row.value("started", false);
  return request;
}

Config config_of(const json& row) {
  Config config;
  const auto policy = row.value("policy", "annotated");
  if (policy == "always") config.sizing.memory = MemorySizing::always;
  if (policy == "never") config.sizing.memory = MemorySizing::never;
  config.sizing.vcpu_quota = row.value("vcpu_quota", true);
  return config;
}

std::vector<std::string> text_of(const std::vector<WantedFile>& files) {
  std::vector<std::string> out;
  for (const auto& file : files) out.push_back(file.key + "=" + file.value);
  return out;
}

std::vector<std::string> names_of(const std::vector<Condition>& conditions) {
  std::vector<std::string> out;
  for (const auto& one : conditions) out.emplace_back(info(one.condition).name);
  return out;
}

std::vector<std::string> expected(const json& row, const char* key) {
  return row.value(key, std::vector<std::string>{});
}

TEST(Sizing, GoldenTable) {
  std::ifstream file(KCG_TEST_DATA "/sizing/golden.json");
  const auto rows = json::parse(file);
  ASSERT_GT(rows.size(), 80U);
  for (const auto& row : rows) {
    SCOPED_TRACE(row.at("name").get<std::string>());
    const auto sizing = size(config_of(row), inputs_of(row), request_of(row));
    EXPECT_EQ(text_of(sizing.sandbox), expected(row, "sandbox"));
    EXPECT_EQ(text_of(sizing.vcpu), expected(row, "vcpu"));
    EXPECT_EQ(text_of(sizing.constrained), expected(row, "constrained"));
    EXPECT_EQ(text_of(sizing.other_class), std::vector<std::string>{});
    EXPECT_EQ(names_of(sizing.conditions), expected(row, "conditions"));
    EXPECT_EQ(name(sizing.overhead.source), row.at("source").get<std::string>());
  }
}

/// Every limit has its derivation, about the same file, with the same value.
TEST(Sizing, EveryLimitIsExplained) {
  std::ifstream file(KCG_TEST_DATA "/sizing/golden.json");
  for (const auto& row : json::parse(file)) {
    SCOPED_TRACE(row.at("name").get<std::string>());
    const auto sizing = size(config_of(row), inputs_of(row), request_of(row));
    const auto check = [&sizing](const std::vector<WantedFile>& files, GroupRole role) {
      for (const auto& limit : files) {
        if (limit.key == "cpu.cfs_period_us") continue;  // a constant
        const auto subject = limit.key + " of " + std::string(name(role));
        const auto e = std::find_if(sizing.explanations.begin(), sizing.explanations.end(),
                                    [&](const Explanation& one) { return one.subject == subject; });
        ASSERT_NE(e, sizing.explanations.end()) << subject;
        EXPECT_EQ(e->value, limit.value);
        EXPECT_FALSE(e->formula.empty());
        EXPECT_FALSE(e->inputs.empty());
        EXPECT_FALSE(e->change.empty());
      }
    };
    check(sizing.sandbox, GroupRole::sandbox);
    check(sizing.vcpu, GroupRole::vcpu);
    check(sizing.constrained, GroupRole::constrained);
  }
}

const Explanation* find(const Sizing& sizing, const std::string& subject) {
  for (const auto& e : sizing.explanations)
    if (e.subject == subject) return &e;
  return nullptr;
}

TEST(Sizing, ExplanationNamesNumbersAndSources) {
  const auto row = json::parse(
      R"({"containers": [{"mib": 512}, {"mib": 256}], "annotation": "350", "history_mib": 100})");
  const auto sizing = size(config_of(row), inputs_of(row), request_of(row));
  const auto* e = find(sizing, "memory.max of sandbox");
  ASSERT_NE(e, nullptr);
  EXPECT_EQ(e->formula, "S + O = (536870912 + 268435456) + 367001600 = 1172307968");
  const std::vector<Explanation::Input> inputs = {
      {"memory of container c1", "536870912", "/run/bundles/c1/config.json"},
      {"memory of container c2", "268435456", "/run/bundles/c2/config.json"},
      {"largest sum during this VM's life", "104857600",
       "earlier containers: guest memory does not come back"},
      {"memory overhead", "367001600 (350 MiB)",
       "annotation io.katacontainers.config.hypervisor.memory_overhead=\"350\" in "
       "/run/bundles/s1/config.json"},
      {"sizing.memory", "annotated", "configuration (default)"}};
  EXPECT_EQ(e->inputs, inputs);
}

TEST(Sizing, ExplainsWhyThereIsNoLimit) {
  const struct {
    const char *name, *row, *subject, *formula;
  } rows[] = {
      {"a container without limit", R"({"containers": [{"mib": 1}, {}], "annotation": "350"})",
       "memory.max of sandbox", "unlimited: container c2 has no memory limit"},
      {"policy", R"({"containers": [{"mib": 1}], "annotation": "350", "policy": "never"})",
       "memory.max of sandbox", "unlimited: sizing.memory is \"never\""},
      {"boot", R"({"containers": [{"quota": 1000}]})", "cpu.max of vcpu",
       "unlimited until a container has started: the guest boots at full speed"},
      {"nothing known", R"({"annotation": "350"})", "memory.max of sandbox",
       "unlimited: no container and no memory total is known"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto parsed = json::parse(row.row);
    const auto sizing = size(config_of(parsed), inputs_of(parsed), request_of(parsed));
    const auto* e = find(sizing, row.subject);
    ASSERT_NE(e, nullptr);
    EXPECT_EQ(e->formula, row.formula);
  }
}

TEST(Sizing, InvalidAnnotationCarriesTextAndRule) {
  const struct {
    const char *name, *text, *shown, *rule;
  } rows[] = {
      {"unit", "350Mi", "=\"350Mi\" in /run/bundles/s1/config.json", "only decimal digits"},
      {"empty", "", "=\"\" in", "it is empty"},
      {"zero", "000", "=\"000\" in", "it is 0"},
      {"newline", "1\n", "=\"1\\x0a\" in", "only decimal digits"},
      {"sign", "+5", "=\"+5\" in", "only decimal digits"},
      {"too large", "99999", "=\"99999\" in", "overhead.max_mib, which is 4096"},
      {"overflow", "99999999999999999999", "=\"99999999999999999999\" in", "overhead.max_mib"},
      {"long", "77777777777777777777777777777777777777777777777777777777777777777777777777777777",
       "=\"7777777777777777777777777777777777777777777777777777777777777777...\" in",
       "overhead.max_mib"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    json parsed;
    parsed["annotation"] = row.text;
    const auto sizing = size(config_of(parsed), inputs_of(parsed), request_of(parsed));
    ASSERT_EQ(names_of(sizing.conditions), std::vector<std::string>{"InvalidAnnotation"});
    const auto& text = sizing.conditions.front().text;
    EXPECT_NE(text.find(row.shown), std::string::npos) << text;
    EXPECT_NE(text.find(row.rule), std::string::npos) << text;
  }
}

TEST(Sizing, ParsesTheAnnotation) {
  EXPECT_EQ(parse_overhead_annotation("1", 4096), 1U);
  EXPECT_EQ(parse_overhead_annotation("0000000000000000000000000000350", 4096), 350U);
  EXPECT_EQ(parse_overhead_annotation("4096", 4096), 4096U);
  EXPECT_FALSE(parse_overhead_annotation("4097", 4096));
  EXPECT_FALSE(parse_overhead_annotation("0", 4096));
  EXPECT_FALSE(parse_overhead_annotation("0x10", 4096));
  EXPECT_FALSE(parse_overhead_annotation("1e2", 4096));
  EXPECT_FALSE(parse_overhead_annotation(std::string_view("1\0", 2), 4096));
}

TEST(Sizing, ParentUndersizedCarriesHaveNeedAndAncestor) {
  const auto row = json::parse(
      R"({"containers": [{"mib": 512}], "annotation": "350", "parent_memory_mib": 512})");
  const auto sizing = size(config_of(row), inputs_of(row), request_of(row));
  ASSERT_EQ(sizing.conditions.size(), 1U);
  for (const auto* part : {"/kubepods/podU", "536870912", "903872512", "367001600"})
    EXPECT_NE(sizing.conditions[0].text.find(part), std::string::npos) << part;
}

TEST(Sizing, MemorySumIsOfThisMoment) {
  const auto row =
      json::parse(R"({"containers": [{"mib": 1}], "annotation": "350", "history_mib": 100})");
  const auto sizing = size(config_of(row), inputs_of(row), request_of(row));
  EXPECT_EQ(sizing.memory_sum, kMib);
  EXPECT_EQ(sizing.memory_max, 450 * kMib);
  const auto huge = json::parse(R"({"containers": [{"bytes": 9223372036854771712}]})");
  EXPECT_EQ(size({}, inputs_of(huge), {}).memory_sum, std::nullopt) << "v1's way to say unlimited";
  const auto none = json::parse(R"({"annotation": "350", "history_mib": 100})");
  EXPECT_EQ(size(config_of(none), inputs_of(none), request_of(none)).memory_sum, std::nullopt);
}

TEST(Sizing, OverheadCpuComesFromItsOwnFirstSource) {
  const auto row = json::parse(R"({"pod_mib": 160, "handler": "small", "annotation": "350"})");
  auto config = config_of(row);
  config.overhead.handlers["small"] = {100, 70};
  auto inputs = inputs_of(row);
  EXPECT_EQ(size(config, inputs, request_of(row)).overhead.cpu_milli, 70U);
  inputs.registration->cpu_overhead_milli = 0;
  EXPECT_EQ(size(config, inputs, request_of(row)).overhead.cpu_milli, 0U);
  inputs.registration->cpu_overhead_milli = 500;
  EXPECT_EQ(size(config, inputs, request_of(row)).overhead.cpu_milli, 500U);
}

TEST(Sizing, RegistrationSpeaksBeforeTheBundle) {
  auto inputs = inputs_of(json::parse(R"({"annotation": "100", "handler": "kata"})"));
  inputs.registration = Registration();
  inputs.registration->annotations["io.katacontainers.config.hypervisor.memory_overhead"] = "200";
  EXPECT_EQ(size({}, inputs, {}).overhead.memory_bytes, 200 * kMib);
  inputs.registration->annotations.clear();
  EXPECT_EQ(size({}, inputs, {}).overhead.memory_bytes, 100 * kMib);
  inputs.bundle->overhead_annotation.reset();
  inputs.registration->handler = "kata-remote";
  EXPECT_EQ(size({}, inputs, {}).overhead.memory_bytes, 120 * kMib);
}

TEST(Sizing, CpusetIsTheUnionUnlessOneMayRunAnywhere) {
  auto inputs = inputs_of(json::parse(R"({"containers": [{}, {}]})"));
  inputs.containers[0].resources.cpus = "0-1";
  inputs.containers[1].resources.cpus = "4,1-2";
  inputs.containers[0].resources.mems = "0";
  EXPECT_EQ(size({}, inputs, {}).cpus, "0-2,4");
  EXPECT_EQ(size({}, inputs, {}).mems, "");
  inputs.containers[1].resources.cpus = "nonsense";
  EXPECT_EQ(size({}, inputs, {}).cpus, "");
}

TEST(Sizing, HugepagesAreShownNeverWritten) {
  auto inputs = inputs_of(json::parse(R"({"containers": [{}, {}]})"));
  inputs.containers[0].resources.hugepages["2MB"] = 4 * kMib;
  inputs.containers[1].resources.hugepages["2MB"] = 2 * kMib;
  const auto sizing = size({}, inputs, {});
  const auto* e = find(sizing, "hugepages of 2MB");
  ASSERT_NE(e, nullptr);
  EXPECT_EQ(e->value, "6291456");
  EXPECT_EQ(sizing.sandbox, std::vector<WantedFile>{});
}

std::vector<std::string> counted(const SandboxInputs& inputs) {
  std::vector<std::string> out;
  for (const auto& c : counted_containers(inputs)) {
    const char* source = c.source == ResourceSource::registration ? "registration"
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
  EXPECT_EQ(sizing.memory_max, 164 * kMib);
  request.history.largest_memory_sum = 576 * kMib;
  EXPECT_EQ(size({}, pod, request).memory_max, 676 * kMib) << "the guest gives nothing back";
  const auto all = known_containers(pod);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_TRUE(all[0].stopped);
  EXPECT_FALSE(all[1].stopped);

  auto single = inputs_of(json::parse(R"({"pod_less": true, "containers": [{"mib": 64}]})"));
  single.kata = KataState();
  single.kata->stopped = {"s1"};
  EXPECT_EQ(counted_containers(single).size(), 1U) << "it is the sandbox";
}

TEST(Sizing, CrioTellsThePodsOwnOverhead) {
  auto pod = inputs_of(json::parse(R"({"containers": [{"mib": 512}], "annotation": "64"})"));
  pod.bundle->pod_overhead_memory = 160 * kMib;
  pod.bundle->pod_overhead_cpu_milli = 300;
  auto sizing = size({}, pod, {});
  EXPECT_EQ(sizing.memory_max, (512 + 160) * kMib);
  EXPECT_EQ(sizing.overhead, (Overhead{160 * kMib, 300, OverheadSource::pod}));
  pod.registration = Registration();
  pod.registration->memory_overhead = 200 * kMib;
  EXPECT_EQ(size({}, pod, {}).memory_max, (512 + 200) * kMib) << "the bus is asked first";
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

TEST(Sizing, KataStateOverridesTheBundle) {
  auto inputs = inputs_of(json::parse(R"({"containers": [{"mib": 1}], "annotation": "350"})"));
  inputs.kata = KataState();
  inputs.kata->containers["c1"].memory_limit = 10 * static_cast<std::int64_t>(kMib);
  const auto sizing = size({}, inputs, {});
  EXPECT_EQ(sizing.memory_max, 360 * kMib);
  EXPECT_EQ(find(sizing, "memory.max of sandbox")->inputs[0].source, "Kata's state of the sandbox");
}

TEST(Weight, NewCurve) {
  const struct {
    std::uint64_t shares, weight;
  } rows[] = {{0, 1},
              {1, 1},
              {2, 1},
              {102, 17},
              {512, 59},
              {1024, 100},
              {2048, 174},
              {10240, 639},
              {262144, 10000},
              {262145, 10000},
              {3, 2},
              {262143, 10000},
              {UINT64_MAX, 10000}};
  for (const auto& row : rows) EXPECT_EQ(weight_of_shares(row.shares), row.weight) << row.shares;
}

TEST(Weight, OldCurve) {
  const struct {
    std::uint64_t shares, weight;
  } rows[] = {{0, 1}, {2, 1}, {1024, 39}, {2048, 79}, {262144, 10000}, {UINT64_MAX, 10000}};
  for (const auto& row : rows)
    EXPECT_EQ(weight_of_shares_old(row.shares), row.weight) << row.shares;
}

TEST(Weight, TheCurveThatTheParentFollowsDecides) {
  const struct {
    const char* name;
    std::optional<std::uint64_t> pod_shares, pod_weight;
    std::uint64_t weight;
  } rows[] = {
      {"nothing known", std::nullopt, std::nullopt, 59},
      {"old curve", 1024, 39, 20},
      {"new curve", 1024, 100, 59},
      {"old curve with overhead shares", 1024, 49, 20},  // 1024 + 256 shares
      {"new curve with overhead shares", 1024, 119, 59},
      {"neither", 1024, 77, 59},
      {"own shares, old curve", std::nullopt, 20, 20},
      {"absurd shares", UINT64_MAX, 10000, 59},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto inputs =
        inputs_of(json::parse(R"({"pod_less":true,"containers":[{"shares":512}]})"));
    SizingRequest request;
    request.parent.pod_shares = row.pod_shares;
    request.parent.pod_weight = row.pod_weight;
    EXPECT_EQ(text_of(size({}, inputs, request).sandbox),
              std::vector<std::string>{"cpu.weight=" + std::to_string(row.weight)});
  }
}

}  // namespace
}  // namespace kcg
