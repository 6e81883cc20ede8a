// SPDX-License-Identifier: Apache-2.0
//
// Others that do the same work, on cgroup v1: libcgroup's API, and its daemon of rules.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>

#include "support/live/node.hpp"

namespace kcg::bench {

/// The CPU time of a life's groups and moves through libcgroup's API; how long cgrulesengd takes
/// from a VMM's exec until the process is in its group. Throws where cgrulesengd is not installed.
[[nodiscard]] nlohmann::ordered_json bench_peers(std::size_t lives);

}  // namespace kcg::bench
