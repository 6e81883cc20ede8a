// SPDX-License-Identifier: Apache-2.0
#include "pass/populated.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace kcg {

std::set<GroupRef> populated(const Round& last) {
  const auto& hierarchies = last.observed.host.hierarchies;
  std::set<std::pair<std::size_t, std::string_view>> seen;  // of many threads few groups
  for (const auto& process : last.observed.processes)
    for (const auto& thread : process.threads)
      for (std::size_t i = 0; i < std::min(hierarchies.size(), thread.facts.groups.size()); ++i)
        if (hierarchies[i].unified) seen.emplace(i, thread.facts.groups[i]);
  std::set<GroupRef> found;
  const auto add = [&found](const HierarchyName& hierarchy, CgroupPath path) {
    while (!path.is_root() && found.insert({hierarchy, path}).second) path = path.parent();
  };
  const auto unified = [&](const HierarchyName& hierarchy) {
    const auto* h = last.observed.host.find(hierarchy);
    return h != nullptr && h->unified;
  };
  for (const auto& [i, group] : seen)
    if (auto path = CgroupPath::parse(group)) add(hierarchies[i].name, std::move(*path));
  for (const auto& result : last.report.results)
    if (result.outcome == Outcome::done && move_of(result.step) != nullptr &&
        unified(result.step.group.hierarchy))
      add(result.step.group.hierarchy, result.step.group.path);
  return found;
}

}  // namespace kcg
