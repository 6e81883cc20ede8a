// SPDX-License-Identifier: Apache-2.0
#include "plan/diff.hpp"

#include "layout/scope.hpp"
#include "plan/diff_parts.hpp"

namespace kcg {

namespace {

/// Kata's scope can take controllers only when no process sits in it directly any more.
bool members_first(const Desired& desired) { return desired.form == Form::nested; }

/// Who cannot be seen may be there, and a VM whose command line is not known may be of any size:
/// nothing goes, and no limit changes. What is made anew can be filled.
void keep_what_stands(const Observed& observed, Plan& plan) {
  std::erase_if(plan.steps, [&](const Step& step) {
    if (is<op::Seed>(step)) return observed.group(step.group) != nullptr;
    if (const auto* device = as<op::Device>(step)) return !device->change.attach;
    return is<op::Remove>(step) || is<op::Limit>(step) || is<op::SetScope>(step);
  });
  for (auto& step : plan.steps)
    if (auto* start = std::get_if<op::StartScope>(&step.operation)) start->limits.clear();
}

Plan compare(const Observed& observed, const Desired& desired) {
  Plan plan;
  if (!desired.act || waits_for_scope(observed.pending)) return plan;
  steps::Steps todo(observed, desired, plan.steps);
  if (const auto* scope = missing_scope(observed, desired)) {
    // systemd makes no scope without a process.
    if (observed.assumed || !desired.processes.empty()) todo.start_scope(*scope);
    return plan;
  }
  if (!members_first(desired)) todo.enable_foreign();
  for (const auto& group : desired.groups) todo.make(group);
  todo.enable_foreign(true);
  for (const auto& group : desired.groups) todo.adjust(group);
  todo.narrow();
  todo.move_processes();
  todo.move_threads();
  if (members_first(desired) && plan.steps.empty()) todo.enable_foreign();
  todo.remove_unwanted();
  return plan;
}

}  // namespace

Plan diff(const Observed& observed, const Desired& desired) {
  auto plan = compare(observed, desired);
  if (observed.unread()) keep_what_stands(observed, plan);
  return plan;
}

bool more_follows(const Observed& observed, const Desired& desired) {
  if (!observed.host.unified()) return false;
  const auto there = [&](const CgroupPath& path) {
    return observed.group({observed.host.hierarchies.front().name, path}) != nullptr;
  };
  const auto& top = desired.sandbox_cgroup;
  if (!there(top.parent())) return true;
  if (!members_first(desired) && !there(top)) return false;
  Plan enabling;
  steps::Steps(observed, desired, enabling.steps).enable_foreign();
  return !enabling.steps.empty();
}

}  // namespace kcg
