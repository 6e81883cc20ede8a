// SPDX-License-Identifier: Apache-2.0
//
// What the node's cgroup trees are (L4): our own reading of mountinfo. What libcgroup says is
// compared in libcgroup_view.
#pragma once

#include <string_view>

#include "base/result.hpp"
#include "model/config.hpp"
#include "model/host.hpp"

namespace kcg {

/// The managed hierarchies below config.root: v2 when that is where cgroup2 with the node's
/// controllers is mounted (or the configuration says so), else the v1 mounts; `hybrid` when both are
/// there. Fails when there is none, and on kernels older than 5.10.
[[nodiscard]] Result<Host> discover_host(const Config::Cgroup& config);

/// The pure part: `mountinfo` is the text of /proc/self/mountinfo. v2's controllers are left empty.
[[nodiscard]] Result<Host> host_of_mounts(const Config::Cgroup& config, std::string_view mountinfo);

/// "6.12.1-cloud" -> at least major.minor?
[[nodiscard]] bool kernel_at_least(std::string_view release, unsigned major, unsigned minor);

}  // namespace kcg
