// SPDX-License-Identifier: Apache-2.0
#include "layout/scope.hpp"

#include <algorithm>
#include <chrono>

#include "layout/layout.hpp"

namespace kcg {

namespace {

/// A unit of systemd's, by its place.
bool is_scope(const CgroupPath& path) {
  if (!path.name().ends_with(".scope")) return false;
  const auto slice = path.parent();
  return slice.is_root() || slice.name().ends_with(".slice");
}

bool in_scope(CgroupPath path) {
  while (!path.is_root() && !is_scope(path)) path = path.parent();
  return !path.is_root();
}

}  // namespace

bool is_unit(const Host& host, const GroupRef& group) {
  const auto* hierarchy = host.find(group.hierarchy);
  return hierarchy != nullptr && systemd_manages(*hierarchy) && is_scope(group.path);
}

const WantedGroup* missing_scope(const Observed& observed, const Desired& desired) {
  for (const auto& group : desired.groups)
    if (group.scope && observed.group(group.ref) == nullptr) return &group;
  return nullptr;
}

bool waits_for_scope(const std::optional<PendingJob>& pending) {
  return pending && !pending->limits;
}

bool scope_holds_us(const Observed& observed, const WantedGroup& group) {
  const auto& hierarchies = observed.host.hierarchies;
  const auto inside = [&](const Process& process) {
    for (std::size_t i = 0; !process.threads.empty() && i < hierarchies.size(); ++i) {
      const auto& groups = process.threads.front().facts.groups;
      if (hierarchies[i].name != group.ref.hierarchy || i >= groups.size()) continue;
      return groups[i] == group.ref.path.str();
    }
    return false;
  };
  return group.scope && std::any_of(observed.processes.begin(), observed.processes.end(), inside);
}

bool left_to_systemd(const Observed& observed, const GroupRef& group) {
  const auto* hierarchy = observed.host.find(group.hierarchy);
  if (hierarchy == nullptr || !systemd_manages(*hierarchy)) return false;
  if (!observed.gone) return is_scope(group.path);
  return in_scope(group.path) && std::chrono::milliseconds(observed.gone_ms) < kScopeRemovalGrace;
}

}  // namespace kcg
