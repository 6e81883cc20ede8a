// SPDX-License-Identifier: Apache-2.0
//
// Which thread of a sandbox sits in which group (L4): the tree, as a document and as a drawing.
#pragma once

#include <string>
#include <vector>

#include "model/view.hpp"

namespace kcg {

/// Value: one group with the threads found in it. Points into the view it was made from.
struct GroupMembers {
  std::string path;
  const GroupView* group = nullptr;  ///< nullptr: not one of the sandbox's groups
  std::vector<const ThreadView*> threads;

  /// It exists with the limits that it should have, and nobody in it should be elsewhere.
  [[nodiscard]] bool as_desired() const;
};

/// True if the thread should sit somewhere else in some hierarchy.
[[nodiscard]] bool misplaced(const ThreadView& thread);

/// The sandbox's groups in the view's order (parents first), then any others that hold a thread, by
/// path.
[[nodiscard]] std::vector<GroupMembers> group_members(const SandboxView& view);

}  // namespace kcg
