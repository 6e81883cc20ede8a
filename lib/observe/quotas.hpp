// SPDX-License-Identifier: Apache-2.0
//
// v1: what limits the CPU time of groups above ours, which ours may not exceed (L6).
#pragma once

#include "cgroup/tree.hpp"
#include "model/observed.hpp"

namespace kcg {

/// As far as its files were read: there is a quota.
[[nodiscard]] bool has_quota(const GroupState& group);

/// Of groups that are taken as an earlier look saw them, quota and period of those that are not
/// ours, where there was one: nobody tells when it is raised, and what we limit below must not be
/// less. Who cannot be read is in `observed.unread_groups`.
void read_quotas_again(const CgroupTree& tree, Observed& observed);

}  // namespace kcg
