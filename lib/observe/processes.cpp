// SPDX-License-Identifier: Apache-2.0
#include "observe/processes.hpp"

#include <algorithm>
#include <deque>
#include <set>

#include "plan/classify.hpp"
#include "plan/prove.hpp"

namespace kcg {

namespace {

/// More candidates than this are not a sandbox's processes any more.
constexpr std::size_t kMaxCandidates = 4096;

std::set<Pid> roots(const Record& record, const std::vector<Pid>& inside,
                    const SandboxInputs& inputs) {
  std::set<Pid> pids(inside.begin(), inside.end());
  pids.insert(record.shim_candidates.begin(), record.shim_candidates.end());
  for (const auto& trusted : record.trusted) pids.insert(trusted.key.pid);
  if (inputs.bundle && inputs.bundle->shim_pid) pids.insert(*inputs.bundle->shim_pid);
  if (inputs.registration && inputs.registration->shim) pids.insert(inputs.registration->shim->pid);
  if (inputs.registration && inputs.registration->vmm) pids.insert(inputs.registration->vmm->pid);
  return pids;
}

/// The roots and everything below them, each once.
std::vector<ProcFacts> candidates(ProcView& proc, const std::set<Pid>& from) {
  std::vector<ProcFacts> found;
  std::set<Pid> seen(from);
  std::deque<Pid> queue(from.begin(), from.end());
  while (!queue.empty() && found.size() < kMaxCandidates) {
    const Pid pid = queue.front();
    queue.pop_front();
    auto facts = proc.facts(pid);
    if (!facts) continue;
    found.push_back(std::move(*facts));
    const auto children = proc.children(pid);
    if (!children) continue;
    for (const Pid child : *children)
      if (seen.insert(child).second) queue.push_back(child);
  }
  return found;
}

/// Some vCPU has not run yet: KVM does not know its thread.
bool incomplete(const KvmVcpus& vcpus) {
  return std::any_of(vcpus.tid_of.begin(), vcpus.tid_of.end(),
                     [](const auto& vcpu) { return vcpu.second == 0; });
}

/// KVM's word for a VMM. Where it has none, or none yet for a vCPU that has not run, the threads
/// are asked for hints of their own.
KvmVcpus vcpus_of(ProcView& proc, const Process& process, std::vector<ThreadFacts>& threads) {
  const bool dragonball = process.hypervisor == Hypervisor::dragonball;
  if (process.role != ProcessRole::vmm && !dragonball) return {};
  auto vcpus = proc.kvm_vcpus(process.facts.key, threads).value_or(KvmVcpus{});
  if (vcpus.tid_of.empty() || incomplete(vcpus))
    proc.mark_vcpu_hints(process.facts.key.pid, threads);
  return vcpus;
}

/// nullopt: it ended, or it has more threads than we are willing to handle. The threads of a killed
/// process end one by one: without its leader it is no process any more.
std::optional<std::vector<ThreadFacts>> living_threads(ProcView& proc, const Config& config,
                                                       Pid pid, const Host& host) {
  auto threads = proc.threads(pid, host, config.limits.max_threads_per_sandbox);
  if (!threads || threads->front().key.pid != pid) return std::nullopt;
  return std::move(*threads);
}

void add_threads(ProcView& proc, const Config& config, Process& process, Observed& observed) {
  auto threads = living_threads(proc, config, process.facts.key.pid, observed.host);
  if (!threads) return;
  const auto vcpus = vcpus_of(proc, process, *threads);
  observed.kvm_incomplete = observed.kvm_incomplete || incomplete(vcpus);
  process.threads = classify(process.role, process.hypervisor, *threads, vcpus);
}

bool proven(const std::vector<Process>& processes, const TaskKey& key) {
  return std::any_of(processes.begin(), processes.end(),
                     [&](const Process& process) { return process.facts.key == key; });
}

/// The daemon was started again after the shim had died: a process that says it is the sandbox's,
/// and sits in its group already, needs no living parent to vouch for it.
void trust_orphans(const SandboxId& id, const std::vector<ProcFacts>& facts,
                   const std::vector<Pid>& ours, std::set<Trusted>& trusted) {
  constexpr Pid kInit = 1;
  for (const auto& one : facts) {
    const bool in_group = std::binary_search(ours.begin(), ours.end(), one.key.pid);
    if (!in_group || one.ppid != kInit || one.kernel_thread) continue;
    const auto hypervisor = hypervisor_of(one, id);
    if (hypervisor != Hypervisor::unknown)
      trusted.insert({one.key, ProcessRole::vmm, hypervisor});
    else if (is_virtiofsd(one, id))
      trusted.insert({one.key, ProcessRole::virtiofsd, Hypervisor::unknown});
  }
}

/// Who sits among us and is not proven; not who is just ending.
std::vector<Process> strangers(ProcView& proc, const Config& config,
                               const std::vector<ProcFacts>& facts, const Inside& inside,
                               const Observed& observed) {
  std::vector<Process> found;
  for (const auto& one : facts) {
    const bool in_group = std::binary_search(inside.all.begin(), inside.all.end(), one.key.pid);
    if (!in_group || one.kernel_thread || proven(observed.processes, one.key)) continue;
    if (!living_threads(proc, config, one.key.pid, observed.host)) continue;
    found.emplace_back().facts = one;
  }
  return found;
}

}  // namespace

void observe_processes(ProcView& proc, const Config& config, const Record& record,
                       const Inside& inside, Observed& observed) {
  const auto facts = candidates(proc, roots(record, inside.all, observed.inputs));
  auto trusted = record.trusted;
  trust_orphans(observed.inputs.id, facts, inside.ours, trusted);
  observed.processes = prove(observed.inputs, facts, trusted);
  observed.foreign = strangers(proc, config, facts, inside, observed);
  for (auto& process : observed.processes) add_threads(proc, config, process, observed);
  // One that ended between the two looks has no threads any more.
  std::erase_if(observed.processes, [](const Process& process) { return process.threads.empty(); });
}

}  // namespace kcg
