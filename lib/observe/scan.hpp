// SPDX-License-Identifier: Apache-2.0
//
// Whole-node searches (L5), made at start and after a source lost events; never per sandbox.
#pragma once

#include <map>
#include <set>

#include "cgroup/tree.hpp"
#include "model/ids.hpp"
#include "proc/view.hpp"

namespace kcg {

/// Processes that call themselves a long-lived Kata shim, by the sandbox id that they name. Not
/// proven yet.
[[nodiscard]] std::map<SandboxId, std::set<Pid>> find_shims(ProcView& proc);

/// True for the comm of every containerd shim (15 characters are all that the kernel keeps).
[[nodiscard]] bool shim_comm(std::string_view comm);

/// Groups that carry our mark, by the sandbox id in it.
[[nodiscard]] std::map<SandboxId, std::set<GroupRef>> find_marked(const CgroupTree& tree);

}  // namespace kcg
