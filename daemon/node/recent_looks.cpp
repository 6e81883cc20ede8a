// SPDX-License-Identifier: Apache-2.0
#include "daemon/node/recent_looks.hpp"

#include <algorithm>

namespace kcg {

void RecentLooks::keep(const SandboxId& id, LastLook look) {
  drop(id);
  if (looks_.size() == kMost) looks_.pop_front();
  looks_.emplace_back(id, std::move(look));
}

LastLook* RecentLooks::find(const SandboxId& id) {
  const auto it =
      std::find_if(looks_.begin(), looks_.end(), [&](const auto& one) { return one.first == id; });
  return it == looks_.end() ? nullptr : &it->second;
}

void RecentLooks::drop(const SandboxId& id) {
  std::erase_if(looks_, [&](const auto& one) { return one.first == id; });
}

void RecentLooks::distrust_groups() {
  for (auto& [id, look] : looks_) look.groups_hold = false;
}

}  // namespace kcg
