// SPDX-License-Identifier: Apache-2.0
//
// Plan -> world (L6): one kernel operation per step, in the plan's order. Nothing is decided here
// but what a failure ends.
#pragma once

#include <functional>

#include "cgroup/systemd_manager.hpp"
#include "cgroup/tree.hpp"
#include "model/plan.hpp"
#include "proc/view.hpp"

namespace kcg {

/// Performs the steps. A step that makes a group usable (create, mark, seed, threaded mode, scope)
/// and fails ends that group's branch: later steps for it and below it are skipped. A task is moved
/// only if its start time is the planned one before the write; if it is another one after the
/// write, that task is returned to its parent's group and the result says `stranger`. `systemd` may
/// be null: then scopes fail with ENOTCONN. Once `enough` says so no further step is begun, and the
/// report is shorter than the plan; some steps are always performed.
[[nodiscard]] Report apply(const Plan& plan, CgroupTree& tree, ProcView& proc,
                           SystemdManager* systemd, const std::function<bool()>& enough = {});

}  // namespace kcg
