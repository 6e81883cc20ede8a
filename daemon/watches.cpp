// SPDX-License-Identifier: Apache-2.0
#include "daemon/watches.hpp"

#include "oci/cgroups_path.hpp"
#include "plan/layout.hpp"
#include "plan/oom.hpp"

namespace kcg {

namespace {

/// Files whose writing by somebody else means that a task of ours may have been moved, or that
/// the kubelet's choice of CPUs has arrived.
void add_kata_files(const Hierarchy& h, const CgroupPath& path, std::vector<GroupFile>& files) {
  files.push_back({{h.name, path}, "cgroup.procs"});
  if (!h.unified && h.splits_threads()) files.push_back({{h.name, path}, "tasks"});
  if (h.has("cpuset")) files.push_back({{h.name, path}, "cpuset.cpus"});
}

/// Kata's own groups, their making, and our top group's population.
std::vector<GroupFile> files_of(const SandboxId& id, const Observed& observed) {
  std::vector<GroupFile> files;
  const auto text = observed.inputs.cgroups_path();
  const auto path = text ? parse_cgroups_path(*text) : fail(0, "unknown");
  if (!path) return files;
  const auto& hierarchies = observed.host.hierarchies;
  for (const auto& h : hierarchies)
    for (const auto& kata : kata_paths(id, *path)) add_kata_files(h, kata, files);
  // Kata makes its groups in all hierarchies within microseconds: one tells.
  if (!hierarchies.empty()) files.push_back({{hierarchies.back().name, path->pod}, ""});
  for (const auto& [ref, state] : observed.groups)
    if (state.mark && *state.mark == id.str() && state.file("cgroup.subtree_control"))
      files.push_back({ref, "cgroup.events"});
  return files;
}

/// Ours, and on v2 the pod's, which says nothing to a listener on v1 that ours does not hear.
std::vector<GroupRef> memory_groups(const SandboxId& id, const Observed& observed) {
  std::vector<GroupRef> groups;
  const auto text = observed.inputs.cgroups_path();
  const auto path = text ? parse_cgroups_path(*text) : fail(0, "unknown");
  const bool podded = path && observed.host.unified() && !observed.inputs.pod_less();
  for (const auto& [ref, state] : observed.groups)
    if (oom_kills(state) && (state.mark == id.str() || (podded && ref.path == path->pod)))
      groups.push_back(ref);
  return groups;
}

}  // namespace

Result<std::unique_ptr<Watches>> Watches::create(Loop& loop, const Config& config, const Host& host,
                                                 ProcView& proc, const Clock& clock,
                                                 const HintSink& sink) {
  auto bundles = BundleWatch::create(loop, config.discovery, sink);
  if (!bundles) return forward(bundles.error());
  auto kata = KataStateWatch::create(loop, config.discovery, sink);
  if (!kata) return forward(kata.error());
  auto groups = GroupWatch::create(loop, host, sink);
  if (!groups) return forward(groups.error());
  auto oom = OomWatch::create(loop, host, config.mode == Mode::enforce, sink);
  if (!oom) return forward(oom.error());
  return std::unique_ptr<Watches>(new Watches(
      std::move(*bundles), std::move(*kata), std::move(*groups), std::move(*oom),
      std::make_unique<PidWatch>(loop, proc, sink), ProcessWatch::create(loop, proc, clock, sink)));
}

void Watches::follow_processes(const SandboxId& id, const Observed& observed) {
  auto& pids = pids_[id];
  for (const Pid pid : pids) processes_->unwatch_process(pid);
  pids.clear();
  for (const auto& process : observed.processes) {
    pids.push_back(process.facts.key.pid);
    processes_->watch_process(process.facts.key.pid);
    if (process.role == ProcessRole::shim || process.role == ProcessRole::vmm)
      (void)ends_->watch(id.str(), process.facts.key);  // ignored: it has ended; the next pass sees
  }
}

void Watches::follow(const SandboxId& id, const Observed& observed) {
  follow_processes(id, observed);
  // A full table of watches costs time, not correctness: the resync finds what they would tell.
  (void)groups_->watch(id.str(), files_of(id, observed));  // ignored: see above
  oom_->watch(id.str(), memory_groups(id, observed));
}

void Watches::leave(const SandboxId& id) {
  groups_->unwatch(id.str());
  oom_->unwatch(id.str());
  ends_->unwatch(id.str());
  const auto pids = pids_.extract(id);
  if (pids.empty()) return;
  for (const Pid pid : pids.mapped()) processes_->unwatch_process(pid);
}

std::vector<std::string> Watches::problems() const {
  std::vector<std::string> found;
  for (const auto& problem : {bundles_->problem(), kata_->problem(), processes_->problem()})
    if (!problem.empty()) found.push_back(problem);
  return found;
}

}  // namespace kcg
