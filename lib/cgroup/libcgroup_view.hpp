// SPDX-License-Identifier: Apache-2.0
//
// The host as libcgroup sees it (L5): an independent second reading of the same machine, used at
// start and by `doctor`. The only file that knows libcgroup; it only reads, because the library's
// writing side edits the subtree_control of ancestors.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/host.hpp"

namespace kcg {

/// Value: controller -> mount point.
using ControllerMounts = std::map<std::string, std::string>;

/// Asked in a process of its own: the library never gives back the tables that it fills, 0.8 MiB
/// on cgroup v1, and whatever it does, the asker goes on. Errors: no such process could be made, it
/// did not come to its end, or what the library says.
[[nodiscard]] Result<ControllerMounts> libcgroup_mounts();

/// One text per controller of `host` that libcgroup sees elsewhere or not at all; empty: both
/// agree.
[[nodiscard]] std::vector<std::string> compare_mounts(const Host& host,
                                                      const ControllerMounts& mounts);

}  // namespace kcg
