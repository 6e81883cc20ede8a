// SPDX-License-Identifier: Apache-2.0
//
// A whole node looked at once, without a daemon (L8): what `cgctl --no-daemon` shows.
#pragma once

#include <string>
#include <vector>

#include "model/config.hpp"
#include "model/view.hpp"
#include "show/plan_documents.hpp"
#include "show/view.hpp"

namespace kcg {

/// Value: one sandbox of the node.
struct Inspection {
  SandboxView view;
  Planned planned;
};

/// Value: the node at this moment.
struct NodeInspection {
  std::vector<Inspection> sandboxes;  ///< sorted by id
  std::vector<SandboxView> ignored;   ///< bundles that are not managed, with the reason
  HierarchyMode hierarchy = HierarchyMode::v2;
};

/// Reads bundles, Kata's state, /proc and the cgroup trees. Writes nothing.
[[nodiscard]] Result<NodeInspection> inspect_node(const Config& config);

}  // namespace kcg
