// SPDX-License-Identifier: Apache-2.0
//
// Whether what was moved stayed where it was moved to (L7): the groups are asked whom they hold,
// which takes a read for each group instead of one for each thread.
#pragma once

#include <vector>

#include "cgroup/tree.hpp"
#include "model/plan.hpp"
#include "pass/pass.hpp"
#include "proc/view.hpp"

namespace kcg {

/// The steps of a plan that move somebody, in their order.
[[nodiscard]] std::vector<Step> moves_of(const Plan& plan);

/// Whether each thread is in the group into which its last move in a hierarchy took it, those
/// that were born since in a process that was moved as a whole included. A thread that has ended is
/// where it belongs; false where anything cannot be read.
[[nodiscard]] bool moves_hold(const CgroupTree& tree, ProcView& proc,
                              const std::vector<Step>& moves);

/// What was moved stands in what was seen where it was moved to.
void take_in_moves(Round& round);

}  // namespace kcg
