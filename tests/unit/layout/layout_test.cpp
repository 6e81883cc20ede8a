// SPDX-License-Identifier: Apache-2.0
#include "layout/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "oci/cgroups_path.hpp"
#include "support/fake_tree.hpp"

namespace kcg {
namespace {

using test::fake_host_v1;
using test::fake_host_v2;

SandboxId id_of(const char* text) { return SandboxId::parse(text).value(); }

void say(Observed& observed, const char* cgroups_path) {
  observed.inputs.bundle->cgroups_path = cgroups_path;
  observed.cgroups_path = cgroups_path_of(observed.inputs);
}

CgroupsPath path_of(const std::string& text) { return parse_cgroups_path(text).value(); }

// --- directories --------------------------------------------------------------------------------

struct PathRow {
  const char* name;
  const char* cgroups_path;
  Form form;
  const char* sandbox;
  const char* overhead;  ///< "" = none
};

class Paths : public testing::TestWithParam<PathRow> {};

TEST_P(Paths, OfEachForm) {
  const auto& row = GetParam();
  const auto paths =
      layout_paths(Config{}, id_of("S"), path_of(row.cgroups_path), row.form).value();
  EXPECT_EQ(paths.sandbox.str(), row.sandbox);
  EXPECT_EQ(paths.overhead ? paths.overhead->str() : "", row.overhead);
}

constexpr const char* kSlicePath = "kubepods-burstable-podU.slice:cri-containerd:S";
#define SLICE "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podU.slice"

const PathRow kPaths[] = {
    {"cgroupfs", "/kubepods/burstable/podU/S", Form::plain,
     "/kubepods/burstable/podU/kata-sandbox-S", ""},
    {"docker_cgroupfs", "/docker/S", Form::plain, "/docker/kata-sandbox-S", ""},
    {"ctr", "default/S", Form::plain, "/vc/default/kata-sandbox-S", ""},
    {"empty", "", Form::plain, "/vc/kata-sandbox-S", ""},
    {"dot", ".", Form::plain, "/vc/kata-sandbox-S", ""},
    {"climbs_to_the_root_only", "/../../etc/x", Form::plain, "/etc/kata-sandbox-S", ""},
    {"nested", kSlicePath, Form::nested, SLICE "/cri-containerd-S.scope/kata-sandbox-S", ""},
    {"nested_crio", "kubepods-burstable-podU.slice:crio:S", Form::nested,
     SLICE "/crio-S.scope/kata-sandbox-S", ""},
    {"own_scope", kSlicePath, Form::own_scope, SLICE "/kata-sandbox-S.scope", ""},
    {"docker_own_scope", "system.slice:docker:S", Form::own_scope,
     "/system.slice/kata-sandbox-S.scope", ""},
    {"scope_in_the_root_slice", "-.slice:docker:S", Form::own_scope, "/kata-sandbox-S.scope", ""},
    {"legacy_v1_cgroupfs", "/kubepods/burstable/podU/S", Form::legacy_v1,
     "/kubepods/burstable/podU/kata_S", "/kata/S"},
    {"legacy_v1_crio", "/kubepods/burstable/podU/crio-S", Form::legacy_v1,
     "/kubepods/burstable/podU/kata_crio-S", "/kata/S"},
    {"legacy_v1_systemd", kSlicePath, Form::legacy_v1, SLICE "/kata_cri-containerd-S", "/kata/S"},
    {"legacy_v1_has_its_own_group_without_a_path", "", Form::legacy_v1, "/vc/kata_S", "/kata/S"},
    {"legacy_v2_cgroupfs", "/kubepods/burstable/podU/S", Form::legacy_v2, "/kata/S", ""},
    {"legacy_v2_systemd", kSlicePath, Form::legacy_v2, "/kata.slice/kata-S.scope", ""},
};

template <class Row>
std::string row_name(const testing::TestParamInfo<Row>& info) {
  return info.param.name;
}
INSTANTIATE_TEST_SUITE_P(Layout, Paths, testing::ValuesIn(kPaths), row_name<PathRow>);

TEST(Layout, LegacyRootIsConfigurable) {
  Config config;
  config.layout.legacy_root = "/kata_overhead";
  const auto paths = layout_paths(config, id_of("S"), path_of("/p/S"), Form::legacy_v1).value();
  EXPECT_EQ(paths.overhead->str(), "/kata_overhead/S");
}

TEST(Layout, ClassGroupsHaveToFitAsWell) {
  std::string deep;
  while (deep.size() < 4090) deep += "/abcdefghi";
  const auto top = deep.substr(0, 4092 - std::string("/kata-sandbox-S").size());
  EXPECT_TRUE(CgroupPath::parse(top + "/kata-sandbox-S"));
  EXPECT_FALSE(layout_paths(Config{}, id_of("S"), path_of(top + "/S"), Form::plain));
}

TEST(Layout, AnIdThatIsNamedLikeAKernelFileHasNoLegacyGroup) {
  EXPECT_TRUE(layout_paths(Config{}, id_of("cpu.x"), path_of("/p/S"), Form::plain));
  EXPECT_FALSE(layout_paths(Config{}, id_of("cpu.x"), path_of("/p/S"), Form::legacy_v2));
}

struct KataRow {
  const char* name;
  const char* cgroups_path;
  std::vector<std::string> paths;
};
class KataPaths : public testing::TestWithParam<KataRow> {};

TEST_P(KataPaths, AreKnown) {
  std::vector<std::string> found;
  for (const auto& path : kata_paths(id_of("S"), path_of(GetParam().cgroups_path)))
    found.push_back(path.str());
  EXPECT_EQ(found, GetParam().paths);
}

const KataRow kKataPaths[] = {
    {"cgroupfs", "/kubepods/podU/S", {"/kubepods/podU/kata_S", "/kata_overhead/S"}},
    {"crio", "/kubepods/podU/crio-S", {"/kubepods/podU/kata_crio-S", "/kata_overhead/S"}},
    {"docker", "/docker/S", {"/docker/kata_S", "/kata_overhead/S"}},
    {"ctr", "default/S", {"/vc/default/kata_S", "/kata_overhead/S"}},
    {"without_a_path", "", {"/kata_vc", "/kata_overhead/S"}},
    {"systemd",
     kSlicePath,
     {SLICE "/cri-containerd-S.scope", "/kubepods-burstable-podU.slice:cri-containerd:S",
      "/kata_overhead/S"}},
};
INSTANTIATE_TEST_SUITE_P(Layout, KataPaths, testing::ValuesIn(kKataPaths), row_name<KataRow>);

TEST(Layout, CandidatesAreAllThatADaemonStartedAgainMustLookAt) {
  const auto names = [](const std::string& text) {
    std::vector<std::string> found;
    for (const auto& [form, path] : candidate_paths(Config{}, id_of("S"), path_of(text)))
      found.push_back(path.str());
    return found;
  };
  EXPECT_EQ(names("/p/S"), (std::vector<std::string>{"/p/kata-sandbox-S", "/kata/S", "/kata/S"}));
  EXPECT_EQ(names("a.slice:x:S"),
            (std::vector<std::string>{"/a.slice/x-S.scope/kata-sandbox-S",
                                      "/a.slice/kata-sandbox-S.scope", "/kata/S",
                                      "/kata.slice/kata-S.scope"}));
}

TEST(Layout, ClassGroupsAreNamedAfterTheirClass) {
  const auto top = CgroupPath::parse("/p/kata-sandbox-S").value();
  EXPECT_EQ(class_path(top, ThreadClass::vcpu).str(), "/p/kata-sandbox-S/vcpu");
  EXPECT_EQ(class_path(top, ThreadClass::io).str(), "/p/kata-sandbox-S/io");
  EXPECT_EQ(class_path(top, ThreadClass::vmm).str(), "/p/kata-sandbox-S/vmm");
  EXPECT_EQ(class_path(top, ThreadClass::shim).str(), "/p/kata-sandbox-S/shim");
}

// --- who decides --------------------------------------------------------------------------------

/// What each voice says: 't'rue, 'f'alse or '-'.
struct VoiceRow {
  const char* name;
  bool v2;
  const char* voices;  ///< registration, config, Kata's state, annotation, Kata's configuration
  bool allow_annotation;
  Layout layout;
  LayoutSource source;
  std::vector<ConditionName> conditions;
};

std::optional<bool> word(char c) { return c == '-' ? std::nullopt : std::optional(c == 't'); }

Observed observed_of(const VoiceRow& row) {
  Observed observed;
  observed.host = row.v2 ? fake_host_v2() : fake_host_v1();
  observed.inputs.id = id_of("S");
  observed.inputs.bundle.emplace();
  say(observed, "/p/S");
  if (const auto said = word(row.voices[0])) {
    observed.inputs.registration.emplace();
    observed.inputs.registration->sandbox_cgroup_only = said;
  }
  if (const auto said = word(row.voices[2])) {
    observed.inputs.kata.emplace();
    observed.inputs.kata->sandbox_cgroup_only = said;
  }
  if (const auto said = word(row.voices[3]))
    observed.inputs.bundle->layout_annotation = *said ? "true" : "false";
  observed.inputs.kata_config_only = word(row.voices[4]);
  return observed;
}

class Voices : public testing::TestWithParam<VoiceRow> {};

TEST_P(Voices, TheFirstThatSpeaksDecides) {
  const auto& row = GetParam();
  Config config;
  config.layout.sandbox_cgroup_only = word(row.voices[1]);
  config.layout.allow_annotation = row.allow_annotation;
  const auto decision = decide_layout(config, observed_of(row)).value();
  EXPECT_EQ(decision.chosen.layout, row.layout);
  EXPECT_EQ(decision.chosen.source, row.source);
  std::vector<ConditionName> names;
  for (const auto& condition : decision.conditions) names.push_back(condition.condition);
  EXPECT_EQ(names, row.conditions);
}

using enum Layout;
using Source = LayoutSource;
const VoiceRow kVoices[] = {
    {"nobody_speaks", false, "-----", false, sandbox_only, Source::default_value, {}},
    {"registration_before_config", false, "tf---", false, sandbox_only, Source::registration, {}},
    {"config_before_kata_state", false, "-tf--", false, sandbox_only, Source::config, {}},
    {"kata_state_before_annotation", false, "--ft-", false, legacy, Source::kata_state, {}},
    {"annotation_before_kata_config", false, "---tf", false, sandbox_only, Source::annotation, {}},
    {"kata_config_last", false, "----f", false, legacy, Source::kata_config, {}},
    {"annotation_may_not_choose_legacy",
     false,
     "---f-",
     false,
     sandbox_only,
     Source::default_value,
     {}},
    {"annotation_falls_through_to_kata_config",
     false,
     "---ft",
     false,
     sandbox_only,
     Source::kata_config,
     {}},
    {"annotation_may_if_the_operator_says_so",
     false,
     "---f-",
     true,
     legacy,
     Source::annotation,
     {}},
    {"v2_registration_may_choose_legacy",
     true,
     "f----",
     false,
     legacy,
     Source::registration,
     {ConditionName::legacy_emulated_on_v2}},
    {"v2_config_may_choose_legacy",
     true,
     "-f---",
     false,
     legacy,
     Source::config,
     {ConditionName::legacy_emulated_on_v2}},
    {"v2_kata_state_may_not",
     true,
     "--f--",
     false,
     sandbox_only,
     Source::kata_state,
     {ConditionName::legacy_not_on_v2}},
    {"v2_annotation_may_not",
     true,
     "---f-",
     true,
     sandbox_only,
     Source::annotation,
     {ConditionName::legacy_not_on_v2}},
    {"v2_kata_config_may_not",
     true,
     "----f",
     false,
     sandbox_only,
     Source::kata_config,
     {ConditionName::legacy_not_on_v2}},
};
INSTANTIATE_TEST_SUITE_P(Layout, Voices, testing::ValuesIn(kVoices), row_name<VoiceRow>);

TEST(Layout, AnAnnotationThatIsNoBooleanIsIgnoredAndSaid) {
  for (const char* text : {"", "True", "1", "yes", " true", "false\n"}) {
    auto observed = observed_of(kVoices[0]);
    observed.inputs.bundle->layout_annotation = text;
    const auto decision = decide_layout(Config{}, observed).value();
    EXPECT_EQ(decision.chosen.source, LayoutSource::default_value) << text;
    ASSERT_EQ(decision.conditions.size(), 1U) << text;
    EXPECT_EQ(decision.conditions[0].condition, ConditionName::invalid_annotation);
  }
}

TEST(Layout, WithoutAPathThereIsNoDecision) {
  Observed observed;
  EXPECT_FALSE(decide_layout(Config{}, observed));
  observed.inputs.bundle.emplace();
  say(observed, "a--b.slice:x:S");
  EXPECT_FALSE(decide_layout(Config{}, observed));
}

// --- form ---------------------------------------------------------------------------------------

Process process_in(ProcessRole role, const std::string& group) {
  Process process;
  process.role = role;
  process.facts.key = {role == ProcessRole::shim ? 10 : 20, 1};
  process.threads.resize(1);
  process.threads[0].facts.key = process.facts.key;
  process.threads[0].facts.groups = {group};
  return process;
}

Observed systemd_sandbox(const std::string& shim_group, const std::string& vmm_group) {
  Observed observed;
  observed.host = fake_host_v2();
  observed.inputs.id = id_of("S");
  observed.inputs.bundle.emplace();
  say(observed, "a.slice:x:S");
  observed.processes = {process_in(ProcessRole::shim, shim_group),
                        process_in(ProcessRole::vmm, vmm_group)};
  return observed;
}

struct FormRow {
  const char* name;
  const char* shim_group;
  const char* vmm_group;
  Form form;
};
class Forms : public testing::TestWithParam<FormRow> {};

TEST_P(Forms, UnderSystemd) {
  const auto observed = systemd_sandbox(GetParam().shim_group, GetParam().vmm_group);
  EXPECT_EQ(decide_layout(Config{}, observed)->chosen.form, GetParam().form);
}

const FormRow kForms[] = {
    {"both_in_katas_scope", "/a.slice/x-S.scope", "/a.slice/x-S.scope", Form::nested},
    {"shim_in_it", "/a.slice/x-S.scope", "/elsewhere", Form::nested},
    {"vmm_in_it", "/system.slice/containerd.service", "/a.slice/x-S.scope", Form::nested},
    {"below_it", "/a.slice/x-S.scope/kata-sandbox-S/shim", "/elsewhere", Form::nested},
    {"no_scope", "/system.slice/containerd.service", "/a.slice:x:S", Form::own_scope},
    {"another_sandboxs_scope", "/a.slice/x-S2.scope", "/a.slice/x-S2.scope", Form::own_scope},
};
INSTANTIATE_TEST_SUITE_P(Layout, Forms, testing::ValuesIn(kForms), row_name<FormRow>);

// --- in force -----------------------------------------------------------------------------------

void add_marked(Observed& observed, const char* path, const char* mark = "S") {
  GroupState state;
  state.ref = {"v2", CgroupPath::parse(path).value()};
  state.mark = mark;
  observed.groups[state.ref] = state;
}

TEST(Layout, WhatWasFixedStays) {
  auto observed = systemd_sandbox("/elsewhere", "/elsewhere");
  observed.fixed = FixedLayout{sandbox_only, Source::config, Form::nested};
  const auto decision = decide_layout(Config{}, observed).value();
  EXPECT_EQ(decision.chosen, *observed.fixed);
  EXPECT_TRUE(decision.conditions.empty());
}

TEST(Layout, AnotherLayoutLaterIsOnlySaid) {
  auto observed = systemd_sandbox("/a.slice/x-S.scope", "/a.slice/x-S.scope");
  observed.fixed = FixedLayout{sandbox_only, Source::default_value, Form::nested};
  Config config;
  config.layout.sandbox_cgroup_only = false;
  const auto decision = decide_layout(config, observed).value();
  EXPECT_EQ(decision.chosen.layout, sandbox_only);
  ASSERT_FALSE(decision.conditions.empty());
  EXPECT_EQ(decision.conditions.back().condition, ConditionName::layout_changed);
}

TEST(Layout, AFormThatTheNewPathCannotHaveIsDecidedAfresh) {
  auto observed = systemd_sandbox("/a.slice/x-S.scope", "/a.slice/x-S.scope");
  observed.fixed = FixedLayout{sandbox_only, Source::default_value, Form::plain};
  EXPECT_EQ(decide_layout(Config{}, observed)->chosen.form, Form::nested);
  observed.fixed->form = Form::legacy_v1;
  EXPECT_EQ(decide_layout(Config{}, observed)->chosen.form, Form::nested);
}

TEST(Layout, AMarkedGroupIsInForceAfterARestart) {
  auto observed = systemd_sandbox("/a.slice/x-S.scope", "/a.slice/x-S.scope");
  add_marked(observed, "/a.slice/kata-sandbox-S.scope");
  EXPECT_EQ(decide_layout(Config{}, observed)->chosen.form, Form::own_scope);
  observed.watched = true;
  EXPECT_EQ(decide_layout(Config{}, observed)->chosen.form, Form::nested)
      << "it was made before the VMM and decides nothing";
}

TEST(Layout, TheLegacyFormOfThisHostIsInForce) {
  auto observed = systemd_sandbox("/e", "/e");
  say(observed, "/p/S");
  add_marked(observed, "/kata/S");
  Config config;
  config.layout.sandbox_cgroup_only = false;
  EXPECT_EQ(decide_layout(config, observed)->chosen.form, Form::legacy_v2);
}

TEST(Layout, GroupsWithAnothersMarkAreNotInForce) {
  auto observed = systemd_sandbox("/a.slice/x-S.scope", "/a.slice/x-S.scope");
  add_marked(observed, "/a.slice/kata-sandbox-S.scope", "other");
  EXPECT_EQ(decide_layout(Config{}, observed)->chosen.form, Form::nested);
}

TEST(Layout, NothingIsInForceBeforeTheVmm) {
  auto observed = systemd_sandbox("/a.slice/x-S.scope", "/a.slice/x-S.scope");
  observed.processes.pop_back();
  add_marked(observed, "/a.slice/kata-sandbox-S.scope");
  EXPECT_EQ(form_in_force(Config{}, observed, path_of("a.slice:x:S")), std::nullopt);
}

}  // namespace
}  // namespace kcg
