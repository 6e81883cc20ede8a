// SPDX-License-Identifier: Apache-2.0
#include "layout/layout.hpp"

#include "base/text.hpp"
#include "layout/group_name.hpp"
#include "model/kata_groups.hpp"

namespace kcg {

namespace {

/// Value: somebody's word about sandbox_cgroup_only.
struct Voice {
  bool sandbox_only = true;
  LayoutSource source = LayoutSource::default_value;
};

/// The annotation may only lead towards sandbox-only, unless the operator allows more: a tenant
/// must not escape the pod's limits.
std::optional<Voice> annotation_voice(const Config& config, const SandboxInputs& inputs,
                                      std::vector<Condition>& conditions) {
  if (!inputs.bundle || !inputs.bundle->layout_annotation) return std::nullopt;
  const auto& text = *inputs.bundle->layout_annotation;
  if (text != "true" && text != "false") {
    conditions.push_back(
        {ConditionName::invalid_annotation,
         fmt::format("io.katacontainers.config.runtime.sandbox_cgroup_only='{}': must be 'true' or "
                     "'false'; it is ignored",
                     escaped(text))});
    return std::nullopt;
  }
  const bool only = text == "true";
  if (!only && !config.layout.allow_annotation) return std::nullopt;
  return Voice{only, LayoutSource::annotation};
}

Voice first_voice(const Config& config, const SandboxInputs& inputs,
                  std::vector<Condition>& conditions) {
  const auto annotation = annotation_voice(config, inputs, conditions);
  if (inputs.registration && inputs.registration->sandbox_cgroup_only)
    return {*inputs.registration->sandbox_cgroup_only, LayoutSource::registration};
  if (config.layout.sandbox_cgroup_only)
    return {*config.layout.sandbox_cgroup_only, LayoutSource::config};
  if (inputs.kata && inputs.kata->sandbox_cgroup_only)
    return {*inputs.kata->sandbox_cgroup_only, LayoutSource::kata_state};
  if (annotation) return *annotation;
  if (inputs.kata_config_only) return {*inputs.kata_config_only, LayoutSource::kata_config};
  return {};
}

/// On v2 legacy takes the VM out of the pod's memory limit: only the operator or a privileged
/// caller may choose it.
Layout layout_of(const Voice& voice, const Host& host, std::vector<Condition>& conditions) {
  if (voice.sandbox_only) return Layout::sandbox_only;
  if (!host.unified()) return Layout::legacy;
  if (voice.source == LayoutSource::registration || voice.source == LayoutSource::config) {
    conditions.push_back({ConditionName::legacy_emulated_on_v2,
                          "legacy was chosen explicitly on cgroup v2: the VM is outside the pod's "
                          "memory limit"});
    return Layout::legacy;
  }
  conditions.push_back({ConditionName::legacy_not_on_v2,
                        fmt::format("{} says sandbox_cgroup_only=false, the node is cgroup v2: "
                                    "sandbox-only is used",
                                    name(voice.source))});
  return Layout::sandbox_only;
}

bool sits_within(const Process& process, const CgroupPath& path) {
  if (process.threads.empty()) return false;
  for (const auto& group : process.threads.front().facts.groups) {
    const auto parsed = CgroupPath::parse(group);
    if (parsed && parsed->within(path)) return true;
  }
  return false;
}

Form form_of(Layout layout, const Voice& voice, const CgroupsPath& path, const Observed& observed) {
  if (layout == Layout::legacy) return observed.host.unified() ? Form::legacy_v2 : Form::legacy_v1;
  if (path.driver == Driver::cgroupfs) return Form::plain;
  // With sandbox_cgroup_only=true Kata makes a scope and sits in it, with false it makes none.
  if (observed.assumed) return voice.sandbox_only ? Form::nested : Form::own_scope;
  for (const auto role : {ProcessRole::shim, ProcessRole::vmm}) {
    const auto* process = observed.first(role);
    if (process != nullptr && sits_within(*process, path.full)) return Form::nested;
  }
  return Form::own_scope;
}

/// dirname(P)/kata_basename(P); systemd: <slice dir>/kata_<prefix>-<name>. Without a path Kata uses
/// one directory for all sandboxes, and no sandbox can have that for its own.
Result<CgroupPath> kata_directory(const SandboxId& id, const CgroupsPath& path) {
  if (path.full == path.pod) return path.pod.child("kata_" + id.str());
  const std::string base =
      path.driver == Driver::systemd ? path.prefix + "-" + path.name : path.name;
  return path.pod.child("kata_" + base);
}

/// Where an earlier version made this sandbox group, if that is another place.
std::optional<CgroupPath> earlier_path(const SandboxId& id, const CgroupPath& sandbox) {
  const auto whole = whole_group_name(id);
  if (sandbox.name() != cut(whole) || sandbox.name() == whole) return std::nullopt;
  const auto found = sandbox.parent().child(whole);
  return found ? std::optional(*found) : std::nullopt;
}

}  // namespace

Layout chosen_layout(const Config& config, const SandboxInputs& inputs, const Host& host) {
  std::vector<Condition> told_by_the_decision;
  return layout_of(first_voice(config, inputs, told_by_the_decision), host, told_by_the_decision);
}

Layout layout_of(Form form) {
  return form == Form::legacy_v1 || form == Form::legacy_v2 ? Layout::legacy : Layout::sandbox_only;
}

bool possible(Form form, const Host& host, Driver driver) {
  if (form == Form::legacy_v1) return !host.unified();
  if (form == Form::legacy_v2) return host.unified();
  return (form == Form::plain) == (driver == Driver::cgroupfs);
}

bool systemd_manages(const Hierarchy& h) {
  return h.unified || h.has("cpu") || h.has("cpuacct") || h.has("memory") || h.has("blkio") ||
         h.has("pids");
}

std::optional<Form> form_in_force(const Config& config, const Observed& observed,
                                  const CgroupsPath& path) {
  if (!vmm_started(observed)) return std::nullopt;
  for (const auto& [form, candidate] : candidate_paths(config, observed.inputs.id, path)) {
    if (!possible(form, observed.host, path.driver)) continue;
    for (const auto& hierarchy : observed.host.hierarchies) {
      const auto* group = observed.group({hierarchy.name, candidate});
      if (group != nullptr && group->mark == observed.inputs.id.str()) return form;
    }
  }
  return std::nullopt;
}

Result<LayoutDecision> decide_layout(const Config& config, const Observed& observed) {
  if (!observed.cgroups_path) return forward(observed.cgroups_path.error());
  LayoutDecision decision{*observed.cgroups_path, {}, {}};
  const Voice voice = first_voice(config, observed.inputs, decision.conditions);
  const Layout layout = layout_of(voice, observed.host, decision.conditions);
  decision.chosen = {layout, voice.source, form_of(layout, voice, decision.path, observed)};

  // A caller may have registered another path since: what cannot be is decided afresh.
  auto fixed = observed.fixed;
  if (fixed && !possible(fixed->form, observed.host, decision.path.driver)) fixed.reset();
  if (!fixed && !observed.watched) {
    if (const auto form = form_in_force(config, observed, decision.path))
      fixed = FixedLayout{layout_of(*form), voice.source, *form};
  }
  if (!fixed) return decision;
  if (fixed->layout != layout)
    decision.conditions.push_back(
        {ConditionName::layout_changed,
         fmt::format("{} now says {}, the sandbox was placed as {} and stays so until it ends",
                     name(voice.source), name(layout), name(fixed->layout))});
  decision.chosen = *fixed;
  return decision;
}

Result<LayoutPaths> layout_paths(const Config& config, const SandboxId& id, const CgroupsPath& path,
                                 Form form) {
  Result<CgroupPath> sandbox = CgroupPath();
  switch (form) {
    case Form::plain:
      sandbox = path.pod.child(group_name(id, path.pod));
      break;
    case Form::nested:
      sandbox = path.full.child(group_name(id, path.full));
      break;
    case Form::own_scope:
      sandbox = path.pod.child(whole_group_name(id) + ".scope");
      break;
    case Form::legacy_v1:
      sandbox = kata_directory(id, path);
      break;
    case Form::legacy_v2:
      sandbox = CgroupPath::parse(path.driver == Driver::systemd
                                      ? "/kata.slice/kata-" + id.str() + ".scope"
                                      : config.layout.legacy_root + "/" + id.str());
      break;
  }
  if (!sandbox) return forward(sandbox.error());
  if (const auto below = sandbox->child(name(ThreadClass::vcpu)); !below)
    return forward(below.error());
  LayoutPaths paths{std::move(*sandbox), std::nullopt};
  if (form == Form::legacy_v1) {
    auto overhead = CgroupPath::parse(config.layout.legacy_root + "/" + id.str());
    if (!overhead) return forward(overhead.error());
    paths.overhead = std::move(*overhead);
  }
  return paths;
}

Result<LayoutPaths> paths_in_force(const Config& config, const Observed& observed,
                                   const CgroupsPath& path, Form form) {
  const auto& id = observed.inputs.id;
  auto paths = layout_paths(config, id, path, form);
  const auto earlier = paths ? earlier_path(id, paths->sandbox) : std::nullopt;
  if (!earlier) return paths;
  for (const auto& hierarchy : observed.host.hierarchies) {
    const auto* group = observed.group({hierarchy.name, *earlier});
    if (group != nullptr && group->mark == id.str()) paths->sandbox = *earlier;
  }
  return paths;
}

std::vector<CgroupPath> kata_paths(const SandboxId& id, const CgroupsPath& path) {
  std::vector<CgroupPath> found;
  const auto add = [&found](const Result<CgroupPath>& candidate) {
    if (candidate) found.push_back(*candidate);
  };
  if (path.driver == Driver::systemd) {
    found.push_back(path.full);
    add(CgroupPath().child(path.slice + ":" + path.prefix + ":" + path.name));
  } else {
    add(path.full == path.pod ? CgroupPath::parse(kSharedKataGroup) : kata_directory(id, path));
  }
  add(CgroupPath::parse(fmt::format("{}/{}", kKataOverheadRoot, id.str())));
  return found;
}

std::vector<std::pair<Form, CgroupPath>> candidate_paths(const Config& config, const SandboxId& id,
                                                         const CgroupsPath& path) {
  std::vector<std::pair<Form, CgroupPath>> candidates;
  for (const auto form :
       {Form::plain, Form::nested, Form::own_scope, Form::legacy_v1, Form::legacy_v2}) {
    const bool legacy = form == Form::legacy_v1 || form == Form::legacy_v2;
    if (!legacy && (form == Form::plain) != (path.driver == Driver::cgroupfs)) continue;
    const auto paths = layout_paths(config, id, path, form);
    if (!paths) continue;
    candidates.emplace_back(form, paths->overhead.value_or(paths->sandbox));
    if (auto earlier = earlier_path(id, paths->sandbox)) candidates.emplace_back(form, *earlier);
  }
  return candidates;
}

CgroupPath class_path(const CgroupPath& sandbox, ThreadClass cls) {
  return sandbox.child(name(cls)).value_or(sandbox);
}

ClassPaths::ClassPaths(const CgroupPath& sandbox) {
  for (const auto cls : kThreadClasses)
    paths_.at(static_cast<std::size_t>(cls)) = class_path(sandbox, cls);
}

}  // namespace kcg
