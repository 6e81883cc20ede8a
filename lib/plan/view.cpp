// SPDX-License-Identifier: Apache-2.0
#include "plan/view.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "kernel/limit_text.hpp"
#include "plan/sizing.hpp"

namespace kcg {

namespace {

/// USER_HZ: the unit of /proc/<pid>/stat on every Linux architecture that runs Kata.
constexpr std::uint64_t kUsecPerTick = 10'000;

const WantedProcess::Member* wanted_member(const Desired& desired, const TaskKey& process,
                                           const TaskKey& thread) {
  for (const auto& wanted : desired.processes) {
    if (wanted.key != process) continue;
    for (const auto& member : wanted.threads)
      if (member.key == thread) return &member;
  }
  return nullptr;
}

/// The hierarchy whose groups are shown: the first in which threads are placed one by one.
std::size_t shown_hierarchy(const Host& host) {
  for (std::size_t i = 0; i < host.hierarchies.size(); ++i)
    if (host.hierarchies[i].splits_threads()) return i;
  return 0;
}

ThreadView thread_view(const Observed& observed, const Desired& desired, const Process& process,
                       const Thread& thread) {
  ThreadView view;
  view.pid = process.facts.key.pid;
  view.tid = thread.facts.key.pid;
  view.role = process.role;
  view.cls = thread.cls;
  view.by = thread.by;
  view.comm = thread.facts.comm;
  view.cpu_usec = thread.facts.cpu_ticks * kUsecPerTick;
  const auto shown = shown_hierarchy(observed.host);
  const auto& groups = thread.facts.groups;
  if (shown < groups.size()) view.group_now = groups[shown];
  const auto* member = wanted_member(desired, process.facts.key, thread.facts.key);
  if (member == nullptr) return view;
  view.placed = true;
  for (std::size_t i = 0; i < member->paths.size() && i < groups.size(); ++i)
    if (member->paths[i] && member->paths[i]->str() != groups[i]) view.placed = false;
  if (shown < member->paths.size() && member->paths[shown])
    view.group_wanted = member->paths[shown]->str();
  return view;
}

bool is_limit(const std::string& key) {
  static constexpr std::string_view kLimits[] = {"memory.max",       "memory.limit_in_bytes",
                                                 "cpu.max",          "cpu.weight",
                                                 "cpu.cfs_quota_us", "cpu.cfs_period_us",
                                                 "cpu.shares",       "cpuset.cpus",
                                                 "cpuset.mems",      "pids.max"};
  return std::find(std::begin(kLimits), std::end(kLimits), key) != std::end(kLimits);
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

std::vector<GroupView> group_views(const Observed& observed, const Desired& desired) {
  std::vector<GroupView> views;
  for (const auto& wanted : desired.groups) {
    if (wanted.shared) continue;
    auto& view = group_entry(views, wanted);
    view.hierarchies.push_back(wanted.ref.hierarchy);
    const auto* now = observed.group(wanted.ref);
    view.exists = view.exists && now != nullptr;
    for (const auto& list : {wanted.seeds, wanted.limits})
      for (const auto& file : list)
        if (now == nullptr || now->file(file.key) != file.value) view.wanted[file.key] = file.value;
    if (now == nullptr) continue;
    for (const auto& [key, value] : now->files)
      if (is_limit(key)) view.limits[key] = value;
    for (const auto* key : {"memory.current", "memory.usage_in_bytes"})
      if (const auto text = now->file(key)) view.memory_current = parse_u64(*text);
  }
  return views;
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
}

}  // namespace

SandboxView ignored_view(const Assembled& assembled) {
  SandboxView view;
  add_inputs(view, assembled.inputs);
  if (!assembled.conditions.empty())
    view.ignored = assembled.conditions.front().text;
  else if (!assembled.ignored.empty())
    view.ignored = assembled.ignored.front();
  else
    view.ignored = "no proof that this is a Kata sandbox: no Kata shim, no Kata state";
  return view;
}

SandboxView make_view(const Observed& observed, const Desired& desired, const Record& record) {
  SandboxView view;
  add_inputs(view, observed.inputs);
  view.layout = desired.layout;
  view.layout_source = desired.layout_source;
  view.driver = desired.driver;
  view.state = record.state;
  view.pod_cgroup = desired.pod_cgroup.str();
  view.sandbox_cgroup = desired.sandbox_cgroup.str();
  if (!desired.overhead_cgroup.is_root()) view.overhead_cgroup = desired.overhead_cgroup.str();
  view.overhead = desired.overhead;
  view.groups = group_views(observed, desired);
  add_memory(view);
  for (const auto& process : observed.processes) {
    if (process.role == ProcessRole::shim && view.shim_pid == 0)
      view.shim_pid = process.facts.key.pid;
    if (process.role == ProcessRole::vmm && view.vmm_pid == 0) {
      view.vmm_pid = process.facts.key.pid;
      view.hypervisor = process.hypervisor;
    }
    for (const auto& thread : process.threads) {
      view.vcpus += thread.cls == ThreadClass::vcpu ? 1U : 0U;
      view.threads.push_back(thread_view(observed, desired, process, thread));
    }
  }
  view.created = record.created;
  for (const auto& active : record.conditions)
    view.conditions.push_back({active.condition, active.since});
  return view;
}

}  // namespace kcg
