// SPDX-License-Identifier: Apache-2.0
//
// What has to be known of a sandbox that is given back, beyond what a pass looks at (L6). Reads
// only.
#pragma once

#include "cgroup/tree.hpp"
#include "model/observed.hpp"
#include "plan/release.hpp"
#include "proc/view.hpp"

namespace kcg {

/// Adds Kata's groups in every hierarchy, what stands above and beside ours, and the kernel threads
/// that came into our groups with their VMM: its vhost workers, before Linux 6.4.
[[nodiscard]] HeldSandbox look_around(const CgroupTree& tree, ProcView& proc, Observed observed);

}  // namespace kcg
