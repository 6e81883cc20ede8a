// SPDX-License-Identifier: Apache-2.0
#include "show/group_tree.hpp"

#include <algorithm>

namespace kcg {

namespace {

GroupMembers& entry(std::vector<GroupMembers>& all, const std::string& path) {
  for (auto& one : all)
    if (one.path == path) return one;
  return all.emplace_back(GroupMembers{path, nullptr, {}});
}

}  // namespace

bool misplaced(const ThreadView& thread) { return !thread.placed && !thread.group_wanted.empty(); }

bool GroupMembers::as_desired() const {
  if (group != nullptr && (!group->exists || !group->wanted.empty())) return false;
  return std::none_of(threads.begin(), threads.end(),
                      [](const ThreadView* thread) { return misplaced(*thread); });
}

std::vector<GroupMembers> group_members(const SandboxView& view) {
  std::vector<GroupMembers> all;
  for (const auto& group : view.groups) entry(all, group.path).group = &group;
  const auto known = static_cast<std::ptrdiff_t>(all.size());
  for (const auto& thread : view.threads) entry(all, thread.group_now).threads.push_back(&thread);
  std::sort(all.begin() + known, all.end(),
            [](const GroupMembers& a, const GroupMembers& b) { return a.path < b.path; });
  return all;
}

}  // namespace kcg
