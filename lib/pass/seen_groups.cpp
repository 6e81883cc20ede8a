// SPDX-License-Identifier: Apache-2.0
#include "pass/seen_groups.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/text.hpp"

namespace kcg {

namespace {

using Changes = std::map<GroupRef, std::vector<const op::Change*>>;

bool is_as_seen(const CgroupTree& tree, const GroupState& seen,
                const std::vector<const op::Change*>& changes) {
  std::vector<std::string> files;
  for (const auto* change : changes) files.push_back(change->key);
  const auto now = tree.see(seen.ref, files);
  if (!now || (now->mark ? std::optional(now->mark->text) : std::nullopt) != seen.mark)
    return false;
  for (std::size_t i = 0; i < files.size(); ++i)
    if (!now->files[i] || trim(*now->files[i]) != changes[i]->old_value) return false;
  return true;
}

}  // namespace

bool groups_hold(const Round& round) {
  return std::all_of(round.plan.steps.begin(), round.plan.steps.end(),
                     [](const Step& step) { return move_of(step) != nullptr; }) &&
         !round.observed.gone && !round.observed.unread() && !round.observed.pending;
}

bool as_seen(const CgroupTree& tree, const Round& round) {
  if (round.observed.gone || round.observed.unread()) return false;
  Changes changes;
  for (const auto& step : round.plan.steps) {
    const auto* limit = as<op::Limit>(step);
    if (limit == nullptr && move_of(step) == nullptr) return false;
    auto& of_group = changes[step.group];
    if (limit != nullptr) of_group.push_back(limit);
  }
  return std::all_of(changes.begin(), changes.end(), [&](const auto& one) {
    const auto* seen = round.observed.group(one.first);
    return seen != nullptr && is_as_seen(tree, *seen, one.second);
  });
}

}  // namespace kcg
