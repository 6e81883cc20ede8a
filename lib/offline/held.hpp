// SPDX-License-Identifier: Apache-2.0
//
// Which sandboxes' processes sit in groups that carry our mark (L8): what `cgctl uninstall-check`
// asks. It reads the kernel alone.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cgroup/tree.hpp"

namespace kcg {

/// Value: what is ours of one sandbox.
struct HeldGroups {
  std::string id;
  std::vector<std::string> groups;  ///< topmost paths that carry the mark, each once
  std::size_t processes = 0;        ///< in any of them
  std::size_t threads = 0;
  bool operator==(const HeldGroups&) const = default;
};

/// Of every sandbox of which a group carries our mark, sorted by id; with nobody in its groups,
/// too. A group that cannot be read is an error: it is not empty.
[[nodiscard]] Result<std::vector<HeldGroups>> find_held(const CgroupTree& tree);

/// The same of one sandbox, by its marked groups.
[[nodiscard]] Result<HeldGroups> held_groups(const CgroupTree& tree, const std::string& id,
                                             const std::set<GroupRef>& marked);

}  // namespace kcg
