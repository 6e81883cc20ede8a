// SPDX-License-Identifier: Apache-2.0
//
// Which control files of a group are read (L6): those that somebody decides by, or that are shown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cgroup/tree.hpp"
#include "model/enums.hpp"
#include "model/host.hpp"
#include "model/ids.hpp"

namespace kcg {

/// Who is in a group: on v2 those of the whole threaded subtree, told by its top alone.
inline constexpr const char* kProcesses = "cgroup.procs";
inline constexpr const char* kType = "cgroup.type";
inline constexpr const char* kControllers = "cgroup.controllers";
inline constexpr const char* kEnabled = "cgroup.subtree_control";
inline constexpr const char* kQuota = "cpu.cfs_quota_us";
inline constexpr const char* kPeriod = "cpu.cfs_period_us";

/// Of a group of ours, but who is in it: the top one, or the one of this class.
[[nodiscard]] FileNames own_files(const Hierarchy& h, bool top, ThreadClass cls = ThreadClass::vmm);

/// Of a group above ours, or of Kata's; `parent`: the one that ours stand in. The root limits
/// nobody.
[[nodiscard]] FileNames outer_files(const Hierarchy& h, const CgroupPath& path, bool parent);

/// What the kernel has in those of own_files() when it has just made the group, trimmed, and that
/// nobody is in it; `cls`: nullopt: the top one. On v2 the group above has `enabled` these
/// controllers. Without what depends on more: v1 takes cpusets from above, or not, and has limits
/// of swap, or not.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> fresh_files(
    const Hierarchy& h, std::optional<ThreadClass> cls, std::string_view enabled,
    std::uint64_t page_size);

}  // namespace kcg
