// SPDX-License-Identifier: Apache-2.0
//
// The promises of the JSON documents. Their whole form is held by golden files and schemas
// (tests/unit/cgctl).
#include "show/view_documents.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "show/documents.hpp"
#include "show/plan_documents.hpp"
#include "show/view.hpp"
#include "support/sample_views.hpp"

namespace kcg {
namespace {

using Json = nlohmann::json;

Json parsed(const std::string& document) { return Json::parse(document); }

TEST(Document, OneSandboxStandsAtTopLevelManyDoNot) {
  const auto one = parsed(plan_document({samples::planned_v2()}, true));
  EXPECT_EQ(one.at("version"), 1);
  EXPECT_EQ(one.at("sandbox"), samples::kFirstId);
  EXPECT_FALSE(one.contains("sandboxes"));
  const auto listed = parsed(plan_document({samples::planned_v2()}, false));
  EXPECT_EQ(listed.at("version"), 1);
  EXPECT_EQ(listed.at("sandboxes").size(), 1U);
  EXPECT_FALSE(listed.contains("sandbox"));
}

TEST(Document, NoSandboxIsAnEmptyList) {
  for (const auto& text : {plan_document({}, false), explain_document({}, false), list_document({}),
                           tree_document({}, false)})
    EXPECT_EQ(parsed(text), Json::parse(R"({"version":1,"sandboxes":[]})"));
}

TEST(Document, TheDocumentOfAllIsThatOfTheSingleOnes) {
  const std::vector<Planned> all = {samples::planned_v2(), samples::planned_v1()};
  for (auto* const document : {&plan_document, &explain_document}) {
    std::vector<std::string> entries;
    for (const auto& one : all) entries.push_back(entry_of_document(document({one}, true)));
    EXPECT_EQ(parsed(document_of_entries(entries)), parsed(document(all, false)));
  }
  EXPECT_EQ(parsed(document_of_entries({})), parsed(plan_document({}, false)));
}

TEST(Document, UnlimitedIsNull) {
  auto view = samples::degraded();
  view.memory_limit.reset();
  const auto shown = parsed(show_document(view));
  EXPECT_TRUE(shown.at("memory").at("limit_bytes").is_null());
  EXPECT_TRUE(shown.at("containers").at(1).at("memory_limit_bytes").is_null());
  EXPECT_EQ(shown.at("containers").at(0).at("memory_limit_bytes"), 536870912);
}

TEST(Document, OnlyWhatIsKnownIsPresent) {
  SandboxView view;
  view.id = "abcd";
  const auto shown = parsed(show_document(view));
  for (const auto* key : {"pod", "handler", "hypervisor", "shim_pid", "vmm_pid", "created",
                          "pod_cgroup", "sandbox_cgroup", "overhead_cgroup"})
    EXPECT_FALSE(shown.contains(key)) << key;
  EXPECT_FALSE(shown.at("memory").contains("used_bytes"));
  const auto planned = parsed(plan_document(
      {Planned{.id = "abcd", .desired = {}, .plan = {}, .conditions = {}, .explanations = {}}},
      true));
  EXPECT_FALSE(planned.contains("pod_cgroup"));
  EXPECT_FALSE(planned.contains("sandbox_cgroup"));
}

TEST(Document, WhatIsNotUtf8IsReplaced) {
  auto view = samples::degraded();
  view.threads[0].comm = "a\xff\xfe";
  view.groups[0].path = "/p\xc0";
  view.groups[0].limits["k\xff"] = "\x80";
  view.conditions[0].condition.text = "\xed\xa0\x80";
  EXPECT_EQ(parsed(threads_document(view)).at("threads").at(0).at("name"),
            "a\xef\xbf\xbd\xef\xbf\xbd");
  for (const auto& text : {show_document(view), list_document({view}), tree_document({view}, true)})
    EXPECT_TRUE(Json::accept(text));
}

TEST(PlanDocument, OneGroupPerPathWithItsHierarchiesAndTheSumOfItsLimits) {
  const auto groups = parsed(plan_document({samples::planned_v1()}, true)).at("groups");
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].at("path"), "/docker/kata_0123");
  EXPECT_EQ(groups[0].at("hierarchies"), (Json{"cpu,cpuacct", "memory"}));
  EXPECT_EQ(groups[0].at("limits"), (Json{{"cpu.cfs_quota_us", "50000"},
                                          {"cpu.shares", "1024"},
                                          {"memory.limit_in_bytes", "536870912"}}));
  EXPECT_EQ(groups[1].at("limits"), Json::object());
}

TEST(PlanDocument, LimitsAreWhatIsWantedWrittenWithoutSeeds) {
  const auto groups = parsed(plan_document({samples::planned_v2()}, true)).at("groups");
  EXPECT_EQ(groups.at(0).at("limits"), (Json{{"memory.max", "1172307968"}}));
  EXPECT_EQ(groups.at(0).at("hierarchies"), Json{"v2"});
}

TEST(PlanDocument, StepsNameProcessAndThread) {
  const auto steps = parsed(plan_document({samples::planned_v2()}, true)).at("steps");
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[0].at("op"), "create");
  EXPECT_FALSE(steps[0].contains("key"));
  EXPECT_EQ(steps[1].at("old"), "max");
  EXPECT_EQ(steps[1].at("new"), "1172307968");
  EXPECT_EQ(steps[2].at("pid"), 4240);
  EXPECT_EQ(steps[2].at("tid"), 4242);
  EXPECT_EQ(steps[2].at("class"), "vcpu");
  const auto whole = parsed(plan_document({samples::planned_v1()}, true)).at("steps").at(0);
  EXPECT_EQ(whole.at("pid"), 77);
  EXPECT_FALSE(whole.contains("tid"));
}

TEST(ListDocument, IgnoredBundlesTellWhyAndNoState) {
  const auto entry = parsed(list_document({samples::ignored()})).at("sandboxes").at(0);
  EXPECT_EQ(entry.at("ignored"), "no proof that this is Kata's");
  EXPECT_FALSE(entry.contains("state"));
  EXPECT_FALSE(entry.contains("memory"));
}

/// All names of a set, up to its last value.
template <class Enum>
std::set<std::string> names_to(Enum last) {
  std::set<std::string> all;
  for (unsigned i = 0; i <= static_cast<unsigned>(last); ++i)
    all.insert(std::string(name(static_cast<Enum>(i))));
  all.erase("");  // the unknown hypervisor is not written
  return all;
}

TEST(Schemas, KnowEveryNameThatADocumentMayHold) {
  std::ifstream file(KCG_TEST_DATA "/../../docs/schemas/show.schema.json");
  const auto schema = Json::parse(file);
  const struct {
    const char* where;
    std::set<std::string> names;
  } rows[] = {
      {"/$defs/layout", names_to(Layout::legacy)},
      {"/$defs/layout_source", names_to(LayoutSource::default_value)},
      {"/$defs/driver", names_to(Driver::systemd)},
      {"/$defs/class", names_to(ThreadClass::shim)},
      {"/$defs/role", names_to(GroupRole::unconstrained)},
      {"/$defs/type", names_to(GroupType::v1)},
      {"/$defs/state", names_to(SandboxState::removing)},
      {"/$defs/severity", names_to(Severity::error)},
      {"/$defs/overhead/properties/source", names_to(OverheadSource::default_value)},
      {"/$defs/container/properties/source", names_to(ResourceSource::bundle)},
      {"/$defs/thread/properties/role", names_to(ProcessRole::kernel_worker)},
      {"/$defs/thread/properties/classified_by", names_to(ClassSource::fallback)},
      {"/properties/engine", names_to(Engine::none)},
      {"/properties/hypervisor", names_to(Hypervisor::remote)},
  };
  for (const auto& row : rows)
    EXPECT_EQ(schema.at(Json::json_pointer(row.where)).at("enum").get<std::set<std::string>>(),
              row.names)
        << row.where;
}

}  // namespace
}  // namespace kcg
