// SPDX-License-Identifier: Apache-2.0
//
// Groups of one sandbox (L6, internal to observe/): which exist, whose they are, what is in them.
#pragma once

#include <vector>

#include "cgroup/tree.hpp"
#include "model/config.hpp"
#include "model/observed.hpp"
#include "record/record.hpp"

namespace kcg {

/// Value: processes that sit where only the sandbox's should, ascending.
struct Inside {
  std::vector<Pid> ours;  ///< in groups that carry our mark
  std::vector<Pid> all;   ///< there, or in Kata's own scope
};

/// Fills observed.groups.
[[nodiscard]] Inside observe_groups(const CgroupTree& tree, const Config& config,
                                    const Record& record, Observed& observed);

}  // namespace kcg
