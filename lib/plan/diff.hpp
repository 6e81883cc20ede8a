// SPDX-License-Identifier: Apache-2.0
//
// (observed, desired) -> ordered steps (L4). All ordering is decided here: controllers, groups,
// marks, seeds, limits, class groups, whole processes, single threads, removals.
#pragma once

#include "model/observed.hpp"
#include "model/plan.hpp"

namespace kcg {

/// Empty when all is as desired. Contains no write outside the set that docs/layouts.md allows.
[[nodiscard]] Plan diff(const Observed& observed, const Desired& desired);

/// Whether others can only be planned when these, of the same two, are done: what a group of v2
/// offers to those below it is seen when it has been enabled.
[[nodiscard]] bool more_follows(const Observed& observed, const Desired& desired);

}  // namespace kcg
