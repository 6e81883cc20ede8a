// SPDX-License-Identifier: Apache-2.0
#include "model/observed.hpp"

#include <algorithm>

namespace kcg {

bool carries_mark(const Observed& observed) {
  return std::any_of(observed.groups.begin(), observed.groups.end(), [&](const auto& entry) {
    return entry.second.mark == observed.inputs.id.str();
  });
}

bool vmm_started(const Observed& observed) {
  if (observed.assumed) return true;
  if (observed.first(ProcessRole::vmm) != nullptr) return true;
  const auto& kata = observed.inputs.kata;
  return kata && (kata->hypervisor == "dragonball" || kata->hypervisor == "remote");
}

}  // namespace kcg
