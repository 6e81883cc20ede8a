// SPDX-License-Identifier: Apache-2.0
//
// diff(): the step that asks systemd for a scope.
#include <algorithm>
#include <utility>

#include "plan/diff_parts.hpp"

namespace kcg::steps {

namespace {

void add_limits(op::StartScope& start, const std::vector<WantedFile>& files) {
  for (const auto& file : files)
    if (std::find(start.limits.begin(), start.limits.end(), file) == start.limits.end())
      start.limits.push_back(file);
}

/// One process, and the one that lives longest: the start of a scope fails when systemd cannot move
/// a process that ends just then. nullptr: there is none.
const WantedProcess* first_member(const Desired& desired) {
  const auto& all = desired.processes;
  for (const auto role : {ProcessRole::vmm, ProcessRole::shim})
    for (const auto& process : all)
      if (process.role == role) return &process;
  return all.empty() ? nullptr : &all.front();
}

}  // namespace

void Steps::start_scope(const WantedGroup& scope) {
  op::StartScope start;
  if (const auto* process = first_member(desired_)) start.first = process->key;
  for (const auto& group : desired_.groups) {
    if (!group.scope || group.ref.path != scope.ref.path) continue;
    add_limits(start, group.seeds);
    add_limits(start, group.limits);
  }
  add(scope.ref, std::move(start));
}

}  // namespace kcg::steps
