// SPDX-License-Identifier: Apache-2.0
//
// size() against tests/data/sizing/golden.json (one row, one name), and what a table cannot say:
// sources, counted containers, derivations, the weight curves.
#include "sizing/sizing.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

#include "sizing/containers.hpp"
#include "sizing/numbers.hpp"
#include "sizing/overhead.hpp"
#include "sizing_rows.hpp"

namespace kcg {
namespace {

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

TEST(Sizing, ExplanationNamesNumbersAndSources) {
  const auto row = json::parse(
      R"({"containers": [{"mib": 512}, {"mib": 256}], "annotation": "350", "history_mib": 100})");
  const auto sizing = size(config_of(row), inputs_of(row), request_of(row));
  const auto* e = find(sizing, "memory.max of sandbox");
  ASSERT_NE(e, nullptr);
  EXPECT_EQ(e->formula,
            "B + S + O = 2147483648 + (536870912 + 268435456) + 367001600 = 3319791616");
  const std::vector<Explanation::Input> inputs = {
      {"the VM's boot memory", "2147483648 (2048 MiB)",
       "Kata's own default: nothing else is known"},
      {"memory of container c1", "536870912",
       "/run/bundles/c1/config.json, linux.resources.memory.limit"},
      {"memory of container c2", "268435456",
       "/run/bundles/c2/config.json, linux.resources.memory.limit"},
      {"largest sum during this VM's life", "104857600",
       "earlier containers: guest memory does not come back"},
      {"memory overhead", "367001600 (350 MiB)",
       "annotation io.katacontainers.config.hypervisor.memory_overhead=\"350\" in "
       "/run/bundles/s1/config.json"},
      {"other sources",
       "pod none, handler none, default 350 MiB; the larger of annotation and pod counts, then "
       "handler, default",
       "configuration (default)"},
      {"sizing.memory", "annotated", "configuration (default)"}};
  EXPECT_EQ(e->inputs, inputs);
}

TEST(Sizing, TheOverheadsOtherSourcesAreTold) {
  const struct {
    const char *name, *row, *others;
  } rows[] = {
      {"the default won", R"({"handler": "strange"})",
       "annotation none, pod none, handler \"strange\" none"},
      {"the handler won", R"({"handler": "kata", "annotation": "x"})",
       "annotation not valid, pod none, default 350 MiB"},
      {"the pod won", R"({"handler": "kata", "annotation": "100", "pod_mib": 160})",
       "annotation 100 MiB, handler \"kata\" 350 MiB, default 350 MiB"},
      {"the annotation won", R"({"annotation": "200", "pod_mib": 160})",
       "pod 160 MiB, handler none, default 350 MiB"},
  };
  for (const auto& row : rows) {
    const auto json = json::parse(row.row);
    const auto sizing = size(config_of(json), inputs_of(json), request_of(json));
    const auto& inputs = find(sizing, "memory.max of sandbox")->inputs;
    const auto others = std::find_if(inputs.begin(), inputs.end(),
                                     [](const auto& one) { return one.name == "other sources"; });
    ASSERT_NE(others, inputs.end()) << row.name;
    EXPECT_EQ(others->value.substr(0, others->value.find(';')), row.others) << row.name;
  }
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
  for (const auto* part : {"/kubepods/podU", "allows 512 MiB", "need 862 MiB", "350 MiB are"})
    EXPECT_NE(sizing.conditions[0].text.find(part), std::string::npos) << part;
}

/// A guess must not make a stock node all red.
TEST(Sizing, ParentUndersizedIsAnErrorOnlyWhereTheOverheadWasDeclared) {
  const struct {
    const char* row;
    Severity severity;
  } rows[] = {
      {R"({"containers": [{"mib": 512}], "annotation": "350", "parent_memory_mib": 512})",
       Severity::error},
      {R"({"containers": [{"mib": 512}], "pod_mib": 160, "parent_memory_mib": 512})",
       Severity::error},
      {R"({"containers": [{"mib": 512}], "handler": "kata", "parent_memory_mib": 672})",
       Severity::info},
      {R"({"containers": [{"mib": 512}], "parent_memory_mib": 672})", Severity::info},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.row);
    const auto parsed = json::parse(row.row);
    const auto sizing = size(config_of(parsed), inputs_of(parsed), request_of(parsed));
    ASSERT_EQ(names_of(sizing.conditions), std::vector<std::string>{"ParentUndersized"});
    EXPECT_EQ(sizing.conditions[0].severity, row.severity);
  }
}

TEST(Sizing, TheLimitAboveIsExplained) {
  const struct {
    const char *name, *row, *formula;
  } rows[] = {
      {"larger",
       R"({"containers": [{"mib": 512}], "annotation": "350", "parent_memory_mib": 8192})",
       "P, the limit of /kubepods/podU, which is more than B + S + O = 2147483648 + (536870912) + "
       "367001600 = 3051356160: P = 8589934592"},
      {"smaller",
       R"({"containers": [{"mib": 512}], "annotation": "350", "parent_memory_mib": 862})",
       "B + S + O = 2147483648 + (536870912) + 367001600 = 3051356160; /kubepods/podU allows less "
       "and acts first: P = 903872512"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto parsed = json::parse(row.row);
    const auto sizing = size(config_of(parsed), inputs_of(parsed), request_of(parsed));
    EXPECT_EQ(find(sizing, "memory.max of sandbox")->formula, row.formula);
  }
}

TEST(Sizing, BootMemoryNamesItsSource) {
  auto inputs = inputs_of(json::parse(R"({"containers": [{"mib": 512}], "annotation": "350"})"));
  SizingRequest request;
  const auto told = [&] {
    return find(size({}, inputs, request), "memory.max of sandbox")->inputs[0];
  };
  using Input = Explanation::Input;
  EXPECT_EQ(told(), (Input{"the VM's boot memory", "2147483648 (2048 MiB)",
                           "Kata's own default: nothing else is known"}));
  inputs.kata_default_memory = {{"clh", {1024, "/k.toml:9"}}};
  EXPECT_EQ(told().source, "Kata's configuration, default_memory in /k.toml:9") << "the only one";
  inputs.kata_default_memory["qemu"] = {512, "/k.toml:3"};
  EXPECT_EQ(told().source, "Kata's own default: nothing else is known") << "which of the two?";
  request.hypervisor = "qemu";
  EXPECT_EQ(told(), (Input{"the VM's boot memory", "536870912 (512 MiB)",
                           "Kata's configuration, default_memory in /k.toml:3"}));
  inputs.bundle->boot_annotation = "640";
  EXPECT_EQ(told().source,
            "annotation io.katacontainers.config.hypervisor.default_memory=\"640\" in "
            "/run/bundles/s1/config.json");
  inputs.registration = Registration();
  inputs.registration->pod.uid = "u";
  inputs.registration->annotations["io.katacontainers.config.hypervisor.default_memory"] = "768";
  EXPECT_EQ(told().value, "805306368 (768 MiB)");
  inputs.kata = KataState();
  EXPECT_EQ(told().value, "805306368 (768 MiB)") << "a state that does not tell";
  inputs.kata->boot_memory_mib = 300;
  EXPECT_EQ(told().source, "Kata's state of the sandbox");
  request.vmm_memory = 256 * kMib;
  EXPECT_EQ(told().source, "-m on the VMM's command line");
  request.local_vmm = false;
  EXPECT_EQ(told().value, "0 (0 MiB)");
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

TEST(Sizing, KataStateOverridesTheBundle) {
  auto inputs = inputs_of(json::parse(R"({"containers": [{"mib": 1}], "annotation": "350"})"));
  inputs.kata = KataState();
  inputs.kata->containers["c1"].memory_limit = 10 * static_cast<std::int64_t>(kMib);
  const auto sizing = size({}, inputs, {});
  EXPECT_EQ(sizing.memory_max, (2048 + 360) * kMib);
  const auto source = [](const Sizing& of) {
    return find(of, "memory.max of sandbox")->inputs[1].source;
  };
  EXPECT_EQ(source(sizing), "Kata's state of the sandbox");
  inputs.kata->file = "/run/vc/sbs/s1/persist.json";
  EXPECT_EQ(source(size({}, inputs, {})), "Kata's state, /run/vc/sbs/s1/persist.json");
}

}  // namespace
}  // namespace kcg
