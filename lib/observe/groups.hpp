// SPDX-License-Identifier: Apache-2.0
//
// Groups of one sandbox (L5, internal to observe/): which exist, whose they are, what is in them.
#pragma once

#include <vector>

#include "cgroup/tree.hpp"
#include "model/config.hpp"
#include "model/observed.hpp"
#include "plan/record.hpp"

namespace kcg {

/// Fills observed.groups. Returns the pids that sit in groups of ours or in Kata's own scope.
[[nodiscard]] std::vector<Pid> observe_groups(const CgroupTree& tree, const Config& config,
                                              const Record& record, Observed& observed);

}  // namespace kcg
