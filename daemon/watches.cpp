// SPDX-License-Identifier: Apache-2.0
#include "daemon/watches.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "identify/classify.hpp"
#include "layout/layout.hpp"
#include "model/limit_files.hpp"
#include "pass/populated.hpp"
#include "pass/seen_groups.hpp"
#include "proc/kvm_debugfs.hpp"
#include "sizing/oom.hpp"

namespace kcg {

namespace {

bool limits_something(const GroupState& group) {
  return std::any_of(group.files.begin(), group.files.end(),
                     [](const auto& file) { return is_limit_file(file.first); });
}

/// Kata's groups and ours in the pod's as they come and go. A pod-less sandbox shares that group
/// with others, whose groups are none of its business. Groups are made in all hierarchies within
/// microseconds: one tells.
void add_children(const Hierarchy& h, const SandboxId& id, const CgroupsPath& path,
                  const Observed& observed, std::vector<GroupInterest>& interests) {
  const auto add = [&](const CgroupPath& group) {
    if (group.parent() == path.pod)
      interests.push_back({{h.name, path.pod}, GroupNews::child, group});
  };
  for (const auto& kata : kata_paths(id, path)) add(kata);
  for (const auto& [ref, state] : observed.groups)
    if (state.mark == id.str()) add(ref.path);
}

/// Ours, to the end: the population of the top one and the limits of all. Who changes one, or
/// leaves last, is heard at once.
void add_ours(const SandboxId& id, const Observed& observed,
              std::vector<GroupInterest>& interests) {
  for (const auto& [ref, state] : observed.groups) {
    if (state.mark != id.str()) continue;
    if (state.file("cgroup.subtree_control")) interests.push_back({ref, GroupNews::population});
    if (limits_something(state)) interests.push_back({ref, GroupNews::limits});
  }
}

/// Kata makes its group in all hierarchies within microseconds. As long as it was not seen where a
/// look asks for it, only what is made there tells of it, and the others follow.
void add_kata(const std::vector<Hierarchy>& hierarchies, const CgroupPath& kata,
              const Observed& observed, std::vector<GroupInterest>& interests) {
  const auto asked = [](const Hierarchy& h) { return h.unified || h.has("cpuset"); };
  const auto seen = [&](const Hierarchy& h) { return observed.group({h.name, kata}) != nullptr; };
  const bool all = std::none_of(hierarchies.begin(), hierarchies.end(), asked) ||
                   std::any_of(hierarchies.begin(), hierarchies.end(), seen);
  for (const auto& h : hierarchies)
    if (all || asked(h)) interests.push_back({{h.name, kata}, GroupNews::tasks});
}

/// Ours, and as long as a bundle says where they are: Kata's own groups, and their making.
std::vector<GroupInterest> interests_of(const SandboxId& id, const Observed& observed) {
  std::vector<GroupInterest> interests;
  add_ours(id, observed, interests);
  const auto& path = observed.cgroups_path;
  if (!path) return interests;
  const auto& hierarchies = observed.host.hierarchies;
  for (const auto& kata : kata_paths(id, *path)) add_kata(hierarchies, kata, observed, interests);
  if (!hierarchies.empty()) add_children(hierarchies.back(), id, *path, observed, interests);
  return interests;
}

/// Ours, and on v2 the pod's, which says nothing to a listener on v1 that ours does not hear.
std::vector<GroupRef> memory_groups(const SandboxId& id, const Observed& observed) {
  std::vector<GroupRef> groups;
  const auto& path = observed.cgroups_path;
  const bool podded = path && observed.host.unified() && !observed.inputs.pod_less();
  for (const auto& [ref, state] : observed.groups)
    if (oom_kills(state) && (state.mark == id.str() || (podded && ref.path == path->pod)))
      groups.push_back(ref);
  return groups;
}

}  // namespace

Watches::Watches(Loop& loop, const Config& config, const Host& host, ProcView& proc, HintSink sink,
                 Health& health)
    : losses_(loop, health.part("lost events")),
      gate_(loop,
            [this, sink = std::move(sink)](const Hint& hint) {
              if (hint.kind == HintKind::rescan) losses_.one();
              sink(hint);
            }),
      bundles_(loop, config.discovery, std::ref(gate_), health.part("bundles")),
      kata_(loop, config.discovery, std::ref(gate_), health.part("Kata's state")),
      mounts_(
          loop,
          [this] {
            bundles_.recheck();
            kata_.recheck();
          },
          health.part("mounts")),
      groups_(loop, host, std::ref(gate_), health.part("groups")),
      oom_(loop, host, config.mode == Mode::enforce, std::ref(gate_), health.part("OOM kills")),
      ends_(loop, proc, std::ref(gate_), health.part("process ends")),
      processes_(loop, proc, std::ref(gate_), health.part("process events")),
      vcpus_(loop, proc, kKvmDebugfs, std::ref(gate_)) {}

void Watches::follow_processes(const SandboxId& id, const Observed& observed) {
  FlatSet<Pid> now;
  for (const auto& process : observed.processes) {
    const Pid pid = process.facts.key.pid;
    now.insert(pid);
    processes_.watch_process(pid);
    if (process.role == ProcessRole::shim || process.role == ProcessRole::vmm)
      ends_.watch(id, process.facts.key);
  }
  for (const Pid pid : std::exchange(pids_[id], now))
    if (!now.contains(pid)) processes_.unwatch_process(pid);
}

void Watches::expect_vmm(const SandboxId& id, Pid shim) {
  pids_[id].insert(shim);
  processes_.watch_process(shim);
}

/// One that has vCPUs and no VM of KVM's tells of them by itself, and so does one that names them.
void Watches::follow_vcpus(const SandboxId& id, const Observed& observed) {
  const auto* vmm = observed.first(ProcessRole::vmm);
  if (vmm == nullptr) return;
  const auto& threads = vmm->threads;
  const auto vcpu = std::find_if(threads.begin(), threads.end(), [](const Thread& thread) {
    return thread.cls == ThreadClass::vcpu;
  });
  const bool any = vcpu != threads.end();
  const bool named = any && named_vcpu(vmm->hypervisor, vcpu->facts.comm);
  const auto& directory = observed.kvm_directory;
  if (!any && directory.empty())
    vcpus_.expect(id.str(), vmm->facts.key.pid);
  else if (named || directory.empty())
    vcpus_.unwatch(id.str());
  else
    vcpus_.watch(id.str(), vmm->facts.key.pid, directory);
}

void Watches::follow(const SandboxId& id, const Round& last) {
  const auto& observed = last.observed;
  follow_processes(id, observed);
  if (last.groups_read) groups_.watch(id, interests_of(id, observed), populated(last));
  oom_.watch(id, memory_groups(id, observed));
  follow_vcpus(id, observed);
}

void Watches::wrote(const Round& round) {
  std::vector<WrittenLimit> weights;
  for (const auto* step : weights_heard(round)) {
    const auto* weight = change_of(*step);
    weights.push_back({step->group, weight->key, weight->new_value});
  }
  groups_.wrote(weights);
}

void Watches::leave(const SandboxId& id) {
  groups_.unwatch(id);
  oom_.unwatch(id);
  vcpus_.unwatch(id.str());
  ends_.unwatch(id);
  const auto pids = pids_.extract(id);
  if (pids.empty()) return;
  for (const Pid pid : pids.mapped()) processes_.unwatch_process(pid);
}

}  // namespace kcg
