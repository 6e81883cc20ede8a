// SPDX-License-Identifier: Apache-2.0
//
// Which control files of a group are read (L6, internal to observe/): those that somebody decides
// by, or that are shown.
#pragma once

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

}  // namespace kcg
