// SPDX-License-Identifier: Apache-2.0
#include "pass/made_groups.hpp"

#include <algorithm>
#include <string>

#include "base/text.hpp"
#include "model/enums.hpp"
#include "observe/group_files.hpp"

namespace kcg {

namespace {

GroupRef above(const GroupRef& ref) { return {ref.hierarchy, ref.path.parent()}; }

/// nullopt: it is a top one.
std::optional<ThreadClass> class_of(const GroupRef& ref, const std::set<GroupRef>& made) {
  if (!made.contains(above(ref))) return std::nullopt;
  for (const auto cls : kThreadClasses)
    if (name(cls) == ref.path.name()) return cls;
  return std::nullopt;
}

/// Controllers were enabled for the groups that were made, and for no older ones.
bool enables_for_made(const StepResult& result, const std::set<GroupRef>& made,
                      const Round& round) {
  if (!is<op::Enable>(result.step)) return false;
  const auto& group = result.step.group;
  const auto concerned = [&](const auto& one) {
    return one.first != group && above(one.first) == group && !made.contains(one.first);
  };
  const auto& seen = round.observed.groups;
  return std::none_of(seen.begin(), seen.end(), concerned) &&
         (seen.contains(group) || made.contains(group));
}

bool is_done(const StepResult& result) { return result.outcome == Outcome::done; }

/// What the step has left in groups that are among those seen.
void take_in(const Step& step, Observed& observed) {
  const auto group = observed.groups.find(step.group);
  if (group == observed.groups.end()) return;
  auto& files = group->second.files;
  if (const auto* mark = as<op::Mark>(step)) group->second.mark = mark->id;
  if (const auto* change = change_of(step)) files[change->key] = change->new_value;
  if (is<op::MakeThreaded>(step)) {
    files[kType] = op::MakeThreaded::kType;
    if (const auto top = observed.groups.find(above(step.group)); top != observed.groups.end())
      top->second.files[kType] = "domain threaded";
  }
  if (const auto* enable = as<op::Enable>(step)) {
    auto& enabled = files[kEnabled];
    const auto before = words(enabled);
    if (std::find(before.begin(), before.end(), enable->controller) == before.end())
      enabled += (enabled.empty() ? "" : " ") + enable->controller;
  }
}

void add_fresh(const GroupRef& ref, const std::set<GroupRef>& made, Observed& observed) {
  const auto* h = observed.host.find(ref.hierarchy);
  const auto* parent = observed.group(above(ref));
  const auto enabled = parent == nullptr ? std::nullopt : parent->file(kEnabled);
  auto& group = observed.groups[ref];
  group.ref = ref;
  for (auto& [file, text] :
       fresh_files(*h, class_of(ref, made), enabled.value_or(""), observed.host.page_size))
    group.files.insert_or_assign(file, std::move(text));
}

}  // namespace

std::set<GroupRef> made_in(const Round& round) {
  std::set<GroupRef> created, made;
  for (const auto& result : round.report.results) {
    const auto* create = as<op::Create>(result.step);
    if (create != nullptr && !create->parent && is_done(result)) created.insert(result.step.group);
  }
  if (created.empty()) return made;
  for (const auto& result : round.report.results)
    if (is<op::Mark>(result.step) && is_done(result) && created.contains(result.step.group))
      made.insert(result.step.group);
  return made;
}

bool known_of_made(const StepResult& result, const std::set<GroupRef>& made, const Round& round) {
  if (!is_done(result)) return false;
  if (enables_for_made(result, made, round)) return true;
  if (!made.contains(result.step.group)) return false;
  return is<op::Create>(result.step) || is<op::Mark>(result.step) ||
         is<op::MakeThreaded>(result.step) || is<op::Seed>(result.step) ||
         is<op::Limit>(result.step);
}

void add_made(Round& round, const std::set<GroupRef>& made) {
  auto& observed = round.observed;
  const auto& results = round.report.results;
  // What is in a group of v2 follows from what the one above enables: from the top one on.
  const auto enabled = [&](const GroupRef& group) {
    for (const auto& result : results)
      if (is<op::Enable>(result.step) && result.step.group == group) take_in(result.step, observed);
  };
  for (const auto& ref : made)
    if (!made.contains(above(ref))) enabled(above(ref));
  for (const auto& ref : made) {
    add_fresh(ref, made, observed);
    enabled(ref);
  }
  for (const auto& result : results)
    if (!is<op::Enable>(result.step)) take_in(result.step, observed);
  auto next = results.begin();
  std::erase_if(round.between.steps, [&](const Step& step) {
    if (next == results.end() || next->step != step) return false;  // it was not to be done yet
    return move_of(next++->step) == nullptr;
  });
}

}  // namespace kcg
