// SPDX-License-Identifier: Apache-2.0
//
// Looks that take a sandbox's groups as an earlier look saw them (L7), because nobody has told
// anything of them since: what threads do is looked at most often, and the groups are most of what
// there is to read. What such a look would do is held against the kernel first.
#pragma once

#include "cgroup/tree.hpp"
#include "model/plan.hpp"
#include "pass/pass.hpp"

namespace kcg {

/// Whether a later look may take the groups as this round saw them: nothing but moves followed.
[[nodiscard]] bool groups_hold(const Round& round);

/// True where all that this look found to do is to move somebody, or to change a limit, and the
/// groups that this concerns are still ours and as it goes by. From now on they are held. False:
/// a look that reads all groups has to decide.
[[nodiscard]] bool as_seen(const CgroupTree& tree, const Round& round);

}  // namespace kcg
