// SPDX-License-Identifier: Apache-2.0
//
// Groups of Kata's own with fixed names (L1).
#pragma once

namespace kcg {

/// Where Kata puts all sandboxes that have no cgroupsPath.
inline constexpr const char* kSharedKataGroup = "/kata_vc";
/// With sandbox_cgroup_only=false Kata makes a group per sandbox below it.
inline constexpr const char* kKataOverheadRoot = "/kata_overhead";

}  // namespace kcg
