// SPDX-License-Identifier: Apache-2.0
#include "plan/warm.hpp"

#include <algorithm>

namespace kcg {

namespace {

/// Kata starts the vCPUs 30 ms after the VMM; a slow node takes longer.
constexpr std::uint64_t kYoungMs = 500;

bool about_to_start_vcpus(const Process& process) {
  return std::none_of(process.threads.begin(), process.threads.end(),
                      [](const Thread& thread) { return thread.cls == ThreadClass::vcpu; });
}

/// The main thread goes where it is.
Step stay(const Process& vmm, const Hierarchy& hierarchy, const CgroupPath& home) {
  Step step;
  step.op = Op::move_thread;
  step.group = {hierarchy.name, home};
  step.key = hierarchy.unified ? "cgroup.threads" : "tasks";
  step.old_value = step.new_value = home.str();
  step.task = vmm.facts.key;
  step.process = vmm.facts.key.pid;
  return step;
}

}  // namespace

Plan warm_up(const Observed& observed, const Desired& desired) {
  const auto* vmm = observed.first(ProcessRole::vmm);
  if (!desired.act || vmm == nullptr || vmm->threads.empty()) return {};
  if (observed.vmm_age_ms > kYoungMs || !about_to_start_vcpus(*vmm)) return {};
  const auto& groups = vmm->threads.front().facts.groups;
  const auto wanted =
      std::find_if(desired.processes.begin(), desired.processes.end(),
                   [&](const WantedProcess& process) { return process.key == vmm->facts.key; });
  if (wanted == desired.processes.end()) return {};
  for (std::size_t i = 0; i < std::min(groups.size(), wanted->home.size()); ++i) {
    const auto& home = wanted->home[i];
    const bool splits = home && home != wanted->top[i];
    if (splits && groups[i] == home->str())
      return {{stay(*vmm, observed.host.hierarchies[i], *home)}};
  }
  return {};
}

}  // namespace kcg
