// SPDX-License-Identifier: Apache-2.0
//
// Groups of one sandbox (L6, internal to observe/): which exist, whose they are, what is in them.
#pragma once

#include <cstdint>
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

/// How much of each group is read.
enum class GroupDepth : std::uint8_t {
  whole,
  ended,  ///< what matters of one that has ended: who is left in it, and who was killed there
};

/// Adds to observed.groups what is not among them. What stands between the pod and the root is
/// taken from `last`, as far as that has seen it; nullptr: it is read.
[[nodiscard]] Inside observe_groups(const CgroupTree& tree, const Config& config,
                                    const Record& record, GroupDepth depth, const Observed* last,
                                    Observed& observed);

/// The same of observed.groups as they are in it: reads only who is in a group of which it does not
/// say so.
[[nodiscard]] Inside inside_of(const CgroupTree& tree, Observed& observed);

}  // namespace kcg
