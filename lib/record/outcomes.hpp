// SPDX-License-Identifier: Apache-2.0
//
// What the outcomes of steps mean (L4): which failures are none, and which may be a sandbox's end.
#pragma once

#include "model/plan.hpp"

namespace kcg {

/// A step that failed only because its task had ended, or its group was gone already.
[[nodiscard]] bool overtaken(const StepResult& result);

/// A removal that is tried again: members of the group are still dying.
[[nodiscard]] bool still_busy(const StepResult& result);

/// The kernel answers so when a group, a process or the whole sandbox is just going: it counts only
/// when the next look finds the same and the sandbox alive.
[[nodiscard]] bool may_be_its_end(const StepResult& result);

/// True while a group may exist that the report's plan made and did not mark: our run directory has
/// to remember it.
[[nodiscard]] bool creation_open(const Report& report);

}  // namespace kcg
