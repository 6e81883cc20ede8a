// SPDX-License-Identifier: Apache-2.0
#include "plan/warm.hpp"

#include <algorithm>

namespace kcg {

namespace {

bool about_to_start_vcpus(const Process& process) {
  return std::none_of(process.threads.begin(), process.threads.end(),
                      [](const Thread& thread) { return thread.cls == ThreadClass::vcpu; });
}

/// The main thread goes where it is.
Step stay(const Process& vmm, const Hierarchy& hierarchy, const CgroupPath& home) {
  op::MoveThread move;
  move.task = vmm.facts.key;
  move.process = vmm.facts.key.pid;
  move.from = home.str();
  move.v1 = !hierarchy.unified;
  return {{hierarchy.name, home}, move};
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
