// SPDX-License-Identifier: Apache-2.0
//
// Threads that the kernel makes for a VMM (L3, pure). Where they are kernel threads (vhost workers
// before Linux 6.4, KVM's own before 6.12) they are in the group where the VMM was when they were
// made, and do not follow it when it is moved.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "model/process.hpp"

namespace kcg {

/// Their class by their name; nullopt: the kernel makes none of this name for a VMM.
[[nodiscard]] std::optional<ThreadClass> kernel_made(std::string_view comm);

/// True for a kernel thread that is called after a process, or a thread, of `proven`. Nobody but
/// the kernel makes kernel threads, or names them. Before Linux 5.17 names are cut: then a VMM must
/// be among `proven`, and the caller sees to it that nobody else's can be where this one is.
[[nodiscard]] bool works_for(const ProcFacts& worker, const std::vector<Process>& proven);

}  // namespace kcg
