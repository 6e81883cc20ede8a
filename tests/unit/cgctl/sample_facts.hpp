// SPDX-License-Identifier: Apache-2.0
//
// Nodes as `doctor` finds them.
#pragma once

#include "tools/cgctl/doctor/facts.hpp"

namespace kcg::cgctl::samples {

/// cgroup v2, root, a daemon, two sandboxes; all is well.
[[nodiscard]] doctor::Facts sound_node();
/// v1, seen by root: whatever can be wrong is.
[[nodiscard]] doctor::Facts broken_node();
/// The sound one without its daemon, seen by somebody who may read little.
[[nodiscard]] doctor::Facts seen_by_nobody();

}  // namespace kcg::cgctl::samples
