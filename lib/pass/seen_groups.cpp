// SPDX-License-Identifier: Apache-2.0
#include "pass/seen_groups.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "model/limit_files.hpp"
#include "pass/made_groups.hpp"

namespace kcg {

namespace {

using Changes = std::map<GroupRef, std::vector<const op::Change*>>;

bool is_as_seen(const CgroupTree& tree, const GroupState& seen,
                const std::vector<const op::Change*>& changes) {
  FileNames files;
  for (const auto* change : changes) files.push_back(change->key.c_str());
  const auto now = tree.see(seen.ref, AskMark::yes, files);
  if (!now || (now->mark ? std::optional(now->mark->text) : std::nullopt) != seen.mark)
    return false;
  for (std::size_t i = 0; i < files.size(); ++i)
    if (!now->files[i] || trim(*now->files[i]) != changes[i]->old_value) return false;
  return true;
}

/// nullptr: it is none.
const op::Limit* weight_of(const StepResult& result) {
  const auto* limit = as<op::Limit>(result.step);
  const bool done = limit != nullptr && result.outcome == Outcome::done;
  return done && is_weight_file(limit->key) ? limit : nullptr;
}

bool leaves_what_is_known(const Round& round, const std::set<GroupRef>& made) {
  const auto known = [&](const StepResult& result) {
    return move_of(result.step) != nullptr ||
           (weight_of(result) != nullptr && round.observed.group(result.step.group) != nullptr) ||
           known_of_made(result, made, round);
  };
  const auto& results = round.report.results;
  return results.size() == round.plan.steps.size() &&
         std::all_of(results.begin(), results.end(), known);
}

}  // namespace

std::vector<const Step*> weights_heard(const Round& round) {
  const auto made = made_in(round);
  std::vector<const Step*> heard;
  for (const auto& result : round.report.results)
    if (weight_of(result) != nullptr && !made.contains(result.step.group))
      heard.push_back(&result.step);
  return heard;
}

bool groups_hold(const Round& round) {
  return leaves_what_is_known(round, made_in(round)) && !round.observed.gone &&
         !round.observed.unread() && !round.observed.pending;
}

void take_in_made(Round& round) {
  const auto made = made_in(round);
  if (!made.empty() && leaves_what_is_known(round, made)) add_made(round, made);
}

void take_in_weights(Round& round) {
  auto& groups = round.observed.groups;
  for (const auto& result : round.report.results) {
    const auto* weight = weight_of(result);
    const auto group = weight == nullptr ? groups.end() : groups.find(result.step.group);
    if (group == groups.end()) continue;
    group->second.files[weight->key] = weight->new_value;
    std::erase(round.between.steps, result.step);
  }
}

bool as_seen(const CgroupTree& tree, const Round& round) {
  if (round.observed.gone || round.observed.unread()) return false;
  Changes changes;
  for (const auto& step : round.between.steps) {
    const auto* limit = as<op::Limit>(step);
    if (limit == nullptr && move_of(step) == nullptr && !is<op::Device>(step)) return false;
    auto& of_group = changes[step.group];
    if (limit != nullptr) of_group.push_back(limit);
  }
  return std::all_of(changes.begin(), changes.end(), [&](const auto& one) {
    const auto* seen = round.observed.group(one.first);
    return seen != nullptr && is_as_seen(tree, *seen, one.second);
  });
}

}  // namespace kcg
