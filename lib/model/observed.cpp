// SPDX-License-Identifier: Apache-2.0
#include "model/observed.hpp"

#include <algorithm>

namespace kcg {

bool carries_mark(const Observed& observed) {
  return std::any_of(observed.groups.begin(), observed.groups.end(), [&](const auto& entry) {
    return entry.second.mark == observed.inputs.id.str();
  });
}

bool vmm_elsewhere(const SandboxInputs& inputs) {
  const auto& kata = inputs.kata;
  return kata && (kata->hypervisor == "dragonball" || kata->hypervisor == "remote");
}

bool vmm_started(const Observed& observed) {
  return observed.assumed || observed.first(ProcessRole::vmm) != nullptr ||
         vmm_elsewhere(observed.inputs);
}

}  // namespace kcg
