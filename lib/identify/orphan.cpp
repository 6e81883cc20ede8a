// SPDX-License-Identifier: Apache-2.0
#include "identify/orphan.hpp"

namespace kcg {

bool may_be_orphan(const ProcFacts& who, bool in_our_group) {
  constexpr Pid kInit = 1;
  return in_our_group && who.ppid == kInit && who.same_pid_ns && !who.kernel_thread;
}

std::optional<Trusted> orphan(const ProcFacts& facts, const SandboxId& id) {
  const auto hypervisor = hypervisor_of(facts, id);
  if (hypervisor != Hypervisor::unknown) return Trusted{facts.key, ProcessRole::vmm, hypervisor};
  if (is_virtiofsd(facts, id))
    return Trusted{facts.key, ProcessRole::virtiofsd, Hypervisor::unknown};
  return std::nullopt;
}

}  // namespace kcg
