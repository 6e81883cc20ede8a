// SPDX-License-Identifier: Apache-2.0
#include "identify/ended.hpp"

namespace kcg {

bool has_ended(const Observed& observed, const EarlierLooks& earlier) {
  if (observed.unread()) return earlier.ended;  // unknown is not absent
  for (const auto role : {ProcessRole::shim, ProcessRole::vmm})
    if (observed.first(role) != nullptr) return false;
  const bool known = earlier.ended || earlier.proven;
  if (!known && !observed.foreign.empty()) return false;
  if (!known && observed.inputs.unreadable) return false;  // unknown is not absent
  const bool lived = known || carries_mark(observed);
  return lived || (!observed.inputs.bundle && !observed.inputs.registration);
}

bool left_unmanaged(const Observed& observed, std::optional<std::uint64_t> managed_since) {
  if (!managed_since || !observed.unread_groups.empty()) return false;
  const auto* vmm = observed.first(ProcessRole::vmm);
  // A VMM inside its shim, or elsewhere, has no process of its own.
  if (vmm == nullptr && vmm_started(observed)) vmm = observed.first(ProcessRole::shim);
  return vmm != nullptr && vmm->facts.key.start < *managed_since && !carries_mark(observed);
}

}  // namespace kcg
