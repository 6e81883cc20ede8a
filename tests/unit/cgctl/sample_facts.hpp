// SPDX-License-Identifier: Apache-2.0
//
// Nodes as `doctor` finds them.
#pragma once

#include "tools/cgctl/doctor/facts.hpp"

namespace kcg::samples {

/// cgroup v2, root, a daemon, two sandboxes; all is well.
[[nodiscard]] cgctl::doctor::Facts sound_node();
/// v1, seen by root: whatever can be wrong is.
[[nodiscard]] cgctl::doctor::Facts broken_node();
/// The sound one without its daemon, seen by somebody who may read little.
[[nodiscard]] cgctl::doctor::Facts seen_by_nobody();

}  // namespace kcg::samples
