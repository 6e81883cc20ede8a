// SPDX-License-Identifier: Apache-2.0
//
// A light VMM that no shim started and no daemon knows: for who does a sandbox's work by himself.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "standin/kata_groups.hpp"
#include "support/live/node.hpp"
#include "trace.hpp"

namespace kcg::bench {

/// Starts in the node's corner; its vCPU threads have names.
[[nodiscard]] live::Child start_light(const live::Node& node, int vcpus);
/// Its vCPU threads, waited for; throws when they do not come.
[[nodiscard]] std::vector<int> vcpu_threads(int pid, int vcpus);
/// A path in the corner that no group has had.
[[nodiscard]] std::string next_group(const live::Node& node);
/// Whether threads of one process may sit in different groups of this hierarchy.
[[nodiscard]] bool splits(const standin::Mount& mount);
/// CPU time that the calling thread uses.
[[nodiscard]] Micros cpu_of(const std::function<void()>& act);

}  // namespace kcg::bench
