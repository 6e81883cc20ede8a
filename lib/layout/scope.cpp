// SPDX-License-Identifier: Apache-2.0
#include "layout/scope.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>

#include "base/text.hpp"
#include "layout/layout.hpp"

namespace kcg {

namespace {

std::string_view above(std::string_view path) { return path.substr(0, last_of(path, '/')); }

/// A unit of systemd's, by its place.
bool is_scope(std::string_view path) {
  if (!path.ends_with(".scope")) return false;
  const auto slice = above(path);
  return slice.empty() || slice.ends_with(".slice");
}

bool in_scope(std::string_view path) {
  while (!path.empty() && !is_scope(path)) path = above(path);
  return !path.empty();
}

}  // namespace

bool is_unit(const Host& host, const GroupRef& group) {
  const auto* hierarchy = host.find(group.hierarchy);
  return hierarchy != nullptr && systemd_manages(*hierarchy) && is_scope(group.path.str());
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
  if (!observed.gone) return is_scope(group.path.str());
  return in_scope(group.path.str()) &&
         std::chrono::milliseconds(observed.gone_ms) < kScopeRemovalGrace;
}

}  // namespace kcg
