// SPDX-License-Identifier: Apache-2.0
//
// The step that asks systemd for a scope (L4).
#pragma once

#include "model/plan.hpp"

namespace kcg {

/// With all limits, so that no process is in it without them.
[[nodiscard]] Step start_scope_step(const WantedGroup& scope, const Desired& desired);

}  // namespace kcg
