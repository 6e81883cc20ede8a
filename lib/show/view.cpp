// SPDX-License-Identifier: Apache-2.0
#include "show/view.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.hpp"
#include "kernel/limit_text.hpp"
#include "model/limit_files.hpp"
#include "model/ticks.hpp"
#include "sizing/containers.hpp"
#include "sizing/overhead.hpp"
#include "sizing/sizing.hpp"

namespace kcg {

namespace {

/// By process and thread.
using Members = std::map<std::pair<TaskKey, TaskKey>, const WantedProcess::Member*>;

Members members_of(const Desired& desired) {
  Members members;
  for (const auto& wanted : desired.processes)
    for (const auto& member : wanted.threads) members[{wanted.key, member.key}] = &member;
  return members;
}

/// The hierarchy whose groups are shown: the first in which threads are placed one by one.
std::size_t shown_hierarchy(const Host& host) {
  for (std::size_t i = 0; i < host.hierarchies.size(); ++i)
    if (host.hierarchies[i].splits_threads()) return i;
  return 0;
}

ThreadView thread_view(std::size_t shown, const Members& members, const Process& process,
                       const Thread& thread) {
  ThreadView view;
  view.pid = process.facts.key.pid;
  view.tid = thread.facts.key.pid;
  view.role = process.role;
  view.cls = thread.cls;
  view.by = thread.by;
  view.comm = thread.facts.comm;
  view.cpu_usec = thread.facts.cpu_ticks * kUsecPerTick;
  const auto& groups = thread.facts.groups;
  if (shown < groups.size()) view.group_now = groups[shown];
  const auto found = members.find({process.facts.key, thread.facts.key});
  if (found == members.end()) return view;
  const auto* member = found->second;
  view.placed = true;
  for (std::size_t i = 0; i < member->paths.size() && i < groups.size(); ++i)
    if (member->paths[i] && member->paths[i]->str() != groups[i]) view.placed = false;
  if (shown < member->paths.size() && member->paths[shown])
    view.group_wanted = member->paths[shown]->str();
  return view;
}

GroupView& group_entry(std::vector<GroupView>& views, const WantedGroup& wanted) {
  for (auto& view : views)
    if (view.path == wanted.ref.path.str()) return view;
  GroupView view;
  view.role = wanted.role;
  view.path = wanted.ref.path.str();
  view.type = wanted.type;
  view.exists = true;
  return views.emplace_back(std::move(view));
}

void add_state(GroupView& view, const GroupState& now) {
  for (const auto& [key, value] : now.files)
    if (is_limit_file(key)) view.limits[key] = value;
  for (const auto* key : {"memory.current", "memory.usage_in_bytes"})
    if (const auto text = now.file(key)) view.memory_current = parse_u64(*text);
}

/// What the plan would write: it knows which texts mean the same.
void add_wanted(std::vector<GroupView>& views, const Plan& plan) {
  for (const auto& step : plan.steps) {
    const auto* change = change_of(step);
    for (auto& view : views)
      if (change != nullptr && view.path == step.group.path.str())
        view.wanted[change->key] = change->new_value;
  }
}

std::vector<GroupView> group_views(const Observed& observed, const Desired& desired,
                                   const Plan& plan) {
  std::vector<GroupView> views;
  for (const auto& wanted : desired.groups) {
    if (wanted.shared) continue;
    auto& view = group_entry(views, wanted);
    view.hierarchies.push_back(wanted.ref.hierarchy);
    const auto* now = observed.group(wanted.ref);
    view.exists = view.exists && now != nullptr;
    for (const auto& list : {wanted.seeds, wanted.limits})
      for (const auto& file : list)
        if (now == nullptr) view.wanted[file.key] = file.value;
    if (now != nullptr) add_state(view, *now);
  }
  add_wanted(views, plan);
  return views;
}

GroupRole role_by_name(const CgroupPath& path) {
  const auto cls = parse_thread_class(path.name());
  return cls ? role_of(*cls) : GroupRole::sandbox;
}

/// Nothing is wanted of an ended sandbox; what is left of it is still its own.
std::vector<GroupView> left_groups(const Observed& observed) {
  std::vector<GroupView> views;
  for (const auto& [ref, now] : observed.groups) {
    if (now.mark != observed.inputs.id.str()) continue;
    WantedGroup group;
    group.role = role_by_name(ref.path);
    group.ref = ref;
    group.type = observed.host.unified() ? GroupType::domain : GroupType::v1;
    auto& view = group_entry(views, group);
    view.hierarchies.push_back(ref.hierarchy);
    add_state(view, now);
  }
  return views;
}

/// Where it is, or was when something was still wanted; paths that nobody knows are empty.
void add_place(SandboxView& view, const Desired& desired, const Standing& standing) {
  Place place{desired.layout,         desired.layout_source,   desired.driver,  desired.pod_cgroup,
              desired.sandbox_cgroup, desired.overhead_cgroup, desired.overhead};
  const bool wanted = !desired.sandbox_cgroup.is_root();
  if (!wanted && standing.place) place = *standing.place;
  view.layout = place.layout;
  view.layout_source = place.layout_source;
  view.driver = place.driver;
  view.overhead = place.overhead;
  if (place.sandbox_cgroup.is_root()) return;
  view.pod_cgroup = place.pod_cgroup.str();
  view.sandbox_cgroup = place.sandbox_cgroup.str();
  if (!place.overhead_cgroup.is_root()) view.overhead_cgroup = place.overhead_cgroup.str();
}

/// What whoever made the pod's group allows it as a whole.
void add_pod_limits(SandboxView& view, const Observed& observed) {
  for (const auto& [ref, now] : observed.groups)
    if (ref.path.str() == view.pod_cgroup)
      for (const auto& [key, value] : now.files)
        if (is_limit_file(key)) view.pod_limits[key] = value;
}

/// Limit and usage of the group that memory is charged to.
void add_memory(SandboxView& view) {
  for (const auto& group : view.groups) {
    if (!group.memory_current || view.memory_used) continue;
    view.memory_used = group.memory_current;
    for (const auto* key : {"memory.max", "memory.limit_in_bytes"}) {
      const auto it = group.limits.find(key);
      const auto limit = it == group.limits.end() ? std::nullopt : parse_u64(it->second);
      if (limit && *limit < kUnlimitedMemory) view.memory_limit = limit;
    }
  }
}

/// What nobody said in the bundle, and what the pod asked for.
void add_asked(SandboxView& view, const SandboxInputs& inputs) {
  for (const auto& [amounts, source] : granted_overheads(inputs)) {
    if (amounts == PodAmounts{} || !view.asked.overhead_source.empty()) continue;
    view.asked.overhead = amounts;
    view.asked.overhead_source = source;
  }
  if (!inputs.node) return;
  const auto& node = *inputs.node;
  if (view.pod_namespace.empty()) view.pod_namespace = node.pod.ns;
  if (view.pod_name.empty()) view.pod_name = node.pod.name;
  if (view.pod_uid.empty()) view.pod_uid = node.pod.uid;
  if (view.handler.empty()) view.handler = node.handler;
  view.asked.labels = node.labels;
  view.asked.cpu_request_milli = node.cpu_request_milli;
  view.asked.limits = node.limits;
  if (node.cpu_request_milli || node.limits != PodAmounts{}) view.asked.requests_source = "nri";
}

void add_inputs(SandboxView& view, const SandboxInputs& inputs) {
  view.id = inputs.id.str();
  if (inputs.bundle) {
    view.pod_namespace = inputs.bundle->pod.ns;
    view.pod_name = inputs.bundle->pod.name;
    view.pod_uid = inputs.bundle->pod.uid;
    view.handler = inputs.bundle->handler;
    view.engine = inputs.bundle->engine;
  }
  if (const auto& reg = inputs.registration) {
    if (!reg->pod.ns.empty()) view.pod_namespace = reg->pod.ns;
    if (!reg->pod.name.empty()) view.pod_name = reg->pod.name;
    if (!reg->pod.uid.empty()) view.pod_uid = reg->pod.uid;
    if (!reg->handler.empty()) view.handler = reg->handler;
  }
  view.containers = known_containers(inputs);
  add_asked(view, inputs);
}

}  // namespace

SandboxView ignored_view(const Assembled& assembled) {
  SandboxView view;
  add_inputs(view, assembled.inputs);
  if (!assembled.conditions.empty())
    view.ignored = assembled.conditions.front().text;
  else if (!assembled.ignored.empty())
    view.ignored = assembled.ignored.front().why;
  else
    view.ignored = "no proof that this is a Kata sandbox: no Kata shim, no Kata state";
  return view;
}

std::vector<SandboxView> ignored_bundles(const Assembled& assembled) {
  std::vector<SandboxView> views;
  for (const auto& [bundle, why] : assembled.ignored) {
    const auto id = SandboxId::parse(bundle.id);
    if (!id) continue;
    SandboxInputs inputs;
    inputs.id = *id;
    inputs.bundle = bundle;
    add_inputs(views.emplace_back(), inputs);
    views.back().ignored = why;
  }
  return views;
}

SandboxView make_view(const Observed& observed, const Desired& desired, const Plan& plan,
                      const Standing& standing) {
  SandboxView view;
  add_inputs(view, observed.inputs);
  view.state = standing.state;
  add_place(view, desired, standing);
  view.groups =
      desired.groups.empty() ? left_groups(observed) : group_views(observed, desired, plan);
  add_pod_limits(view, observed);
  add_memory(view);
  for (const auto& process : observed.processes) {
    if (process.role == ProcessRole::shim && view.shim_pid == 0)
      view.shim_pid = process.facts.key.pid;
    if (process.role == ProcessRole::vmm && view.vmm_pid == 0) {
      view.vmm_pid = process.facts.key.pid;
      view.hypervisor = process.hypervisor;
    }
    for (const auto& thread : process.threads)
      view.vcpus += thread.cls == ThreadClass::vcpu ? 1U : 0U;
  }
  view.overhead_used = observed.measured.used;
  view.overhead_peak = observed.measured.peak;
  view.created = standing.created;
  view.conditions = standing.conditions;
  return view;
}

std::vector<ThreadView> thread_views(const Observed& observed, const Desired& desired) {
  const auto shown = shown_hierarchy(observed.host);
  const auto members = members_of(desired);
  std::vector<ThreadView> views;
  for (const auto& process : observed.processes)
    for (const auto& thread : process.threads)
      views.push_back(thread_view(shown, members, process, thread));
  return views;
}

}  // namespace kcg
