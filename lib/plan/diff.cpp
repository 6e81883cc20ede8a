// SPDX-License-Identifier: Apache-2.0
#include "plan/diff.hpp"

#include "plan/diff_parts.hpp"

namespace kcg {

namespace {

/// Kata's scope can take controllers only when no process sits in it directly any more.
bool members_first(const Desired& desired) { return desired.form == Form::nested; }

/// A scope of ours that does not exist yet: everything else waits for systemd's job.
const WantedGroup* missing_scope(const Observed& observed, const Desired& desired) {
  for (const auto& group : desired.groups)
    if (group.scope && observed.group(group.ref) == nullptr) return &group;
  return nullptr;
}

Step start_scope(const WantedGroup& scope, const Desired& desired) {
  Step step;
  step.op = Op::start_scope;
  step.group = scope.ref;
  step.role = scope.role;
  step.key = std::string(scope.ref.path.name());
  const auto slice = scope.ref.path.parent();
  step.new_value = slice.is_root() ? "-.slice" : std::string(slice.name());
  for (const auto& process : desired.processes) step.members.push_back(process.key);
  if (!step.members.empty()) step.task = step.members.front();
  return step;
}

}  // namespace

Plan diff(const Observed& observed, const Desired& desired) {
  Plan plan;
  if (!desired.act || observed.pending) return plan;
  if (const auto* scope = missing_scope(observed, desired)) {
    // systemd makes no scope without a process.
    if (observed.assumed || !desired.processes.empty())
      plan.steps.push_back(start_scope(*scope, desired));
    return plan;
  }
  steps::Steps todo(observed, desired, plan.steps);
  if (!members_first(desired)) todo.enable_foreign();
  for (const auto& group : desired.groups) todo.make(group);
  for (const auto& group : desired.groups) todo.adjust(group);
  todo.narrow();
  todo.move_processes();
  todo.move_threads();
  if (members_first(desired) && plan.steps.empty()) todo.enable_foreign();
  todo.remove_unwanted();
  return plan;
}

}  // namespace kcg
