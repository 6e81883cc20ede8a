// SPDX-License-Identifier: Apache-2.0
//
// Layout: who decides, and what is in force.
#include "layout/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/fake_tree.hpp"
#include "unit/layout/layout_rows.hpp"

namespace kcg::test {
namespace {

void say(Observed& observed, const char* cgroups_path) {
  observed.inputs.bundle->cgroups_path = cgroups_path;
  observed.cgroups_path = cgroups_path_of(observed.inputs);
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
}  // namespace kcg::test
