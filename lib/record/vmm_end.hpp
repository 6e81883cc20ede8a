// SPDX-License-Identifier: Apache-2.0
//
// A VMM that has ended while its shim lives on (L4). An ordinary end looks the
// same for some seconds: Kata kills the VMM first and says later that it has stopped, and a scope
// that systemd stops takes up to 9 s.
#pragma once

#include "record/record.hpp"

namespace kcg {

void follow_vmm(VmmLife& life, const Observed& observed, Instant now, std::int64_t wall_seconds);

/// VmmEnded, unless Kata says that it has stopped the sandbox, or may still do so.
[[nodiscard]] std::optional<Condition> vmm_end_condition(const Record& record,
                                                         const Observed& observed, Instant now);

}  // namespace kcg
