// SPDX-License-Identifier: Apache-2.0
//
// The groups that carry a sandbox's mark (L4), packed: on v1 each of thousands of sandboxes has a
// dozen, which are a few paths in each hierarchy.
#pragma once

#include "base/flat_set.hpp"
#include "model/fields.hpp"

namespace kcg {

/// Value: see the head of the file. Whatever asks for one of them unpacks all.
class FoundGroups final {
 public:
  FoundGroups() = default;
  template <class Groups>
  explicit FoundGroups(const Groups& groups) {
    if (!groups.empty()) packed_ = Packed(FlatSet<GroupRef>(groups));
  }

  [[nodiscard]] FlatSet<GroupRef> all() const { return packed_.whole(); }
  [[nodiscard]] bool empty() const { return packed_.size() == 0; }
  template <class Groups>
  void insert_all(const Groups& more) {
    auto groups = all();
    bool fresh = false;
    for (const GroupRef& group : more) fresh = groups.insert(group) || fresh;
    if (fresh) *this = FoundGroups(groups);
  }
  bool operator==(const FoundGroups&) const = default;

 private:
  Packed<FlatSet<GroupRef>> packed_;
};

}  // namespace kcg
