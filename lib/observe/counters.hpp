// SPDX-License-Identifier: Apache-2.0
//
// The kernel's counters of a sandbox's groups (L6): plain files, read once.
#pragma once

#include "cgroup/tree.hpp"
#include "model/usage.hpp"
#include "model/view.hpp"

namespace kcg {

/// The counters now. `view` says which groups the sandbox has.
[[nodiscard]] GroupCounters group_counters(const CgroupTree& tree, const SandboxView& view);

/// CPU time of the whole sandbox, in us; nullopt: the kernel does not tell.
[[nodiscard]] std::optional<std::uint64_t> cpu_usage(const CgroupTree& tree,
                                                     const SandboxView& view);

}  // namespace kcg
