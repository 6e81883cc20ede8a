// SPDX-License-Identifier: Apache-2.0
//
// Pods that start at once on an engine that calls a chain of NRI plugins, with ours in it and
// without.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>

#include "support/live/groups.hpp"

namespace kcg::bench {

/// Value: how much of it. The daemon places the pods both times.
struct Chain {
  std::size_t pairs = 0;  ///< of a run with our plugin and one without; their order alternates
  std::size_t pods = 20;
};

/// How long pods took to start, and by how much the runs of a pair differ.
[[nodiscard]] nlohmann::ordered_json bench_chain(live::Tree tree, const Chain& chain);

}  // namespace kcg::bench
