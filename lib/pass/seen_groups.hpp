// SPDX-License-Identifier: Apache-2.0
//
// Looks that take a sandbox's groups as an earlier look left them (L7), because nobody has told
// anything of them since: what threads do is looked at most often, and the groups are most of what
// there is to read. What such a look would do is held against the kernel first.
#pragma once

#include <vector>

#include "cgroup/tree.hpp"
#include "model/plan.hpp"
#include "pass/pass.hpp"

namespace kcg {

/// The steps that have given a weight, which changes nothing else, to groups that were there
/// before: to those that the round has made nobody listens yet.
[[nodiscard]] std::vector<const Step*> weights_heard(const Round& round);

/// Whether a later look may take the groups as this round left them: nothing but moves and weights
/// followed, and groups that were made.
[[nodiscard]] bool groups_hold(const Round& round);

/// The weights that the round wrote are in the groups that it saw, as they were meant, and between
/// those and what is wanted no more: nobody looks again for them.
void take_in_weights(Round& round);

/// Where groups_hold(), so are the groups that it has made.
void take_in_made(Round& round);

/// True where all that this look found to do is to move somebody, or to change a limit or a device
/// program, and the groups that this concerns are still ours and as it goes by. From now on they
/// are held. False: a look that reads all groups has to decide.
[[nodiscard]] bool as_seen(const CgroupTree& tree, const Round& round);

}  // namespace kcg
