// SPDX-License-Identifier: Apache-2.0
#include "plan/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "plan/cpuset.hpp"

namespace kcg {

namespace {

constexpr std::string_view kAnnotation = "io.katacontainers.config.runtime.sandbox_cgroup_only";

std::string bundle_file(const Observed& observed) {
  const auto& bundle = observed.inputs.bundle;
  return bundle ? bundle->directory + "/config.json" : "no bundle";
}

/// Where the word on the layout stands.
std::string layout_origin(const Config& config, const Observed& observed, LayoutSource source) {
  switch (source) {
    case LayoutSource::registration:
      return "D-Bus registration";
    case LayoutSource::config:
      return config.where("layout.sandbox_cgroup_only");
    case LayoutSource::kata_state:
      return (observed.inputs.kata ? *observed.inputs.kata : KataState()).place() +
             ", SandboxCgroupOnly";
    case LayoutSource::annotation:
      return fmt::format("annotation {} in {}", kAnnotation, bundle_file(observed));
    case LayoutSource::kata_config:
      return "Kata's " + observed.inputs.kata_config_where;
    case LayoutSource::default_value:
      break;
  }
  const auto& annotation = observed.inputs.bundle ? observed.inputs.bundle->layout_annotation
                                                  : std::optional<std::string>();
  if (!annotation) return "nobody says otherwise";
  const bool refused = *annotation == "true" || *annotation == "false";
  return fmt::format(
      "nobody else says otherwise; annotation {}=\"{}\" in {} is not followed: {}", kAnnotation,
      escaped(*annotation, 64), bundle_file(observed),
      refused ? "layout.allow_annotation is false" : "it is neither 'true' nor 'false'");
}

std::string form_text(Form form) {
  switch (form) {
    case Form::nested:
      return "nested in Kata's own scope";
    case Form::own_scope:
      return "a scope of its own";
    case Form::legacy_v1:
      return "vCPU threads beside the containers, all else in the overhead group";
    case Form::legacy_v2:
      return "a group outside the pod, emulating the legacy layout";
    case Form::plain:
      break;
  }
  return "a plain directory beside Kata's own";
}

Explanation of_sandbox(const Config& config, const Observed& observed,
                       const LayoutDecision& decision, const LayoutPaths& paths) {
  const auto& chosen = decision.chosen;
  Explanation e;
  e.subject = "placement";
  e.value = paths.sandbox.str();
  e.path = e.value;
  e.formula = fmt::format("layout {}, driver {}: {}", name(chosen.layout),
                          name(decision.path.driver), form_text(chosen.form));
  const auto& registration = observed.inputs.registration;
  const bool told = registration && registration->cgroups_path;
  e.inputs = {
      {"cgroupsPath", observed.inputs.cgroups_path().value_or(""),
       told ? "D-Bus registration" : bundle_file(observed)},
      {"pod cgroup", std::string(decision.path.pod.str()), "the directory above cgroupsPath"},
      {"layout", fmt::format("{} ({})", name(chosen.layout), name(chosen.source)),
       layout_origin(config, observed, chosen.source)}};
  if (paths.overhead)
    e.inputs.push_back(
        {"layout.legacy_root", config.layout.legacy_root, config.where("layout.legacy_root")});
  e.change = "[layout] sandbox_cgroup_only in the configuration, before the VMM starts";
  return e;
}

/// Threads of one class, by how they were told apart.
std::map<ClassSource, std::size_t> count_threads(const Observed& observed, ThreadClass cls) {
  std::map<ClassSource, std::size_t> counts;
  for (const auto& process : observed.processes)
    for (const auto& thread : process.threads)
      if (thread.cls == cls) ++counts[thread.by];
  return counts;
}

Explanation of_class(const Config& config, const Observed& observed, const WantedGroup& group,
                     ThreadClass cls) {
  Explanation e;
  e.subject = fmt::format("placement of {} threads", name(cls));
  e.value = group.ref.path.str();
  e.path = e.value;
  std::size_t all = 0;
  for (const auto& [by, count] : count_threads(observed, cls)) {
    all += count;
    e.inputs.push_back({"threads", std::to_string(count),
                        fmt::format("told apart by: {}; see 'cgctl threads'", name(by))});
  }
  e.formula = fmt::format("{} threads of class {}", all, name(cls));
  e.inputs.push_back({"placement.thread_groups", "true", config.where("placement.thread_groups")});
  e.change = "placement.thread_groups = false keeps all threads in the sandbox group";
  return e;
}

/// The group that carries the limit: the one with the role whose hierarchy has such a file.
const WantedGroup* carrier(const Observed& observed, const Desired& want, const Explanation& e) {
  const WantedGroup* found = nullptr;
  const auto controller = e.key.substr(0, e.key.find('.'));
  for (const auto& group : want.groups) {
    const auto* hierarchy = observed.host.find(group.ref.hierarchy);
    if (group.role != e.role || hierarchy == nullptr) continue;
    if (hierarchy->unified || hierarchy->has(controller)) found = &group;
  }
  return found;
}

/// What the group will hold may differ from the sum: memory does not shrink, and what is in use is
/// not taken away.
void settle(Explanation& e, const Observed& observed, const Desired& want) {
  const auto* group = e.role ? carrier(observed, want, e) : nullptr;
  if (group == nullptr) return;
  e.path = group->ref.path.str();
  if (const auto* now = observed.group(group->ref)) e.in_force = now->file(e.key).value_or("");
  const auto limit = std::find_if(group->limits.begin(), group->limits.end(),
                                  [&](const WantedFile& file) { return file.key == e.key; });
  const bool number = !e.value.empty() && e.value != "-1" && !e.value.starts_with("max");
  if (limit == group->limits.end()) {
    if (number) e.formula += "; not written, the conditions say why";
    return;
  }
  if (limit->value == e.value) return;
  if (number)
    e.formula += fmt::format("; {} stays: it only grows while the VM lives", limit->value);
  e.value = limit->value;
}

}  // namespace

std::vector<Explanation> complete_explanations(const Config& config, const Observed& observed,
                                               const LayoutDecision& decision,
                                               const LayoutPaths& paths, const Desired& want,
                                               std::vector<Explanation> of_sizing) {
  auto all = std::move(of_sizing);
  for (auto& explanation : all) settle(explanation, observed, want);
  all.push_back(of_sandbox(config, observed, decision, paths));
  if (auto cpus = explain_cpus(observed, decision, paths)) all.push_back(std::move(*cpus));
  std::vector<std::string_view> told;
  for (const auto& group : want.groups) {
    const auto cls = class_of(group.role);
    const auto path = group.ref.path.str();
    if (!cls || std::find(told.begin(), told.end(), path) != told.end()) continue;
    told.push_back(path);
    all.push_back(of_class(config, observed, group, *cls));
  }
  return all;
}

}  // namespace kcg
