// SPDX-License-Identifier: Apache-2.0
//
// Which groups a form consists of, with their limits and cpusets (L4).
#pragma once

#include <vector>

#include "layout/layout.hpp"
#include "model/config.hpp"
#include "model/observed.hpp"
#include "model/plan.hpp"
#include "sizing/sizing.hpp"

namespace kcg {

/// Value: groups wanted, controllers to enable in groups that are not ours, and what is missing.
struct WantedGroups {
  std::vector<WantedGroup> groups;  ///< parents before children
  std::vector<WantedSubtree> enables;
  std::vector<Condition> conditions;
};

[[nodiscard]] WantedGroups wanted_groups(const Config& config, const Observed& observed,
                                         const LayoutDecision& decision, const LayoutPaths& paths,
                                         const std::vector<bool>& usable, const Sizing& sizing);

/// Which hierarchies take part: those where the parent exists or may be made.
[[nodiscard]] std::vector<bool> usable_hierarchies(const Observed& observed,
                                                   const LayoutDecision& decision,
                                                   const LayoutPaths& paths);

}  // namespace kcg
