// SPDX-License-Identifier: Apache-2.0
//
// What was seen of the sandboxes that were looked at last (L9, pure): of so many, since it is 20 to
// 45 KiB of each. Those that have just begun are among them.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <utility>

#include "model/ids.hpp"
#include "pass/reconsider.hpp"

namespace kcg {

/// Resource: see the head of the file.
class RecentLooks final {
 public:
  static constexpr std::size_t kMost = 32;

  /// Takes the place of an earlier one of this sandbox, or of the oldest of all.
  void keep(const SandboxId& id, LastLook look);
  /// nullptr: there is none.
  [[nodiscard]] LastLook* find(const SandboxId& id);
  void drop(const SandboxId& id);
  /// What was told of groups may have been lost: none of them is taken as it was seen.
  void distrust_groups();
  [[nodiscard]] std::size_t size() const { return looks_.size(); }

 private:
  using Looks = std::list<std::pair<SandboxId, LastLook>>;
  Looks looks_;  ///< oldest first
  std::map<SandboxId, Looks::iterator> places_;
};

}  // namespace kcg
