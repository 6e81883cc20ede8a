// SPDX-License-Identifier: Apache-2.0
//
// Groups that a round has made (L7, pure): what is in them when it is over is known without reading
// it, since nobody but the round has written to them, and the kernel makes all alike.
#pragma once

#include <set>

#include "model/host.hpp"
#include "model/plan.hpp"
#include "pass/pass.hpp"

namespace kcg {

/// Those that were made for this sandbox, and say so.
[[nodiscard]] std::set<GroupRef> made_in(const Round& round);

/// Whether this step has left nothing but what is known of the groups that were `made`.
[[nodiscard]] bool known_of_made(const StepResult& result, const std::set<GroupRef>& made,
                                 const Round& round);

/// Of a round of which no more came than moves and what is known: they are among the groups that it
/// has seen, as it left them, and what made them so is no more between those and what is wanted.
/// Who is in them stands with the tasks.
void add_made(Round& round, const std::set<GroupRef>& made);

}  // namespace kcg
