// SPDX-License-Identifier: Apache-2.0
#include "daemon/node/recent_looks.hpp"

#include <iterator>
#include <utility>

namespace kcg {

void RecentLooks::keep(const SandboxId& id, LastLook look) {
  drop(id);
  if (looks_.size() == kMost) drop(SandboxId(looks_.front().first));
  looks_.emplace_back(id, std::move(look));
  places_.emplace(id, std::prev(looks_.end()));
}

LastLook* RecentLooks::find(const SandboxId& id) {
  const auto place = places_.find(id);
  return place == places_.end() ? nullptr : &place->second->second;
}

void RecentLooks::drop(const SandboxId& id) {
  const auto place = places_.find(id);
  if (place == places_.end()) return;
  looks_.erase(place->second);
  places_.erase(place);
}

void RecentLooks::distrust_groups() {
  for (auto& [id, look] : looks_) look.groups_hold = false;
}

}  // namespace kcg
