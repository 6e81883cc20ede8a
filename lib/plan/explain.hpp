// SPDX-License-Identifier: Apache-2.0
//
// What `explain` says beyond the numbers of sizing (L4): which group each limit stands on, what is
// in force there now, and why the sandbox and its threads are placed as they are.
#pragma once

#include <vector>

#include "layout/layout.hpp"
#include "model/config.hpp"
#include "model/observed.hpp"
#include "model/plan.hpp"

namespace kcg {

/// Completes the explanations of sizing from the groups that are wanted, and adds the placement's:
/// one for the sandbox, one for each class of threads.
[[nodiscard]] std::vector<Explanation> complete_explanations(
    const Config& config, const Observed& observed, const LayoutDecision& decision,
    const LayoutPaths& paths, const Desired& want, std::vector<Explanation> of_sizing);

}  // namespace kcg
