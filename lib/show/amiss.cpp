// SPDX-License-Identifier: Apache-2.0
#include "show/amiss.hpp"

#include <fmt/format.h>

#include "show/group_tree.hpp"

namespace kcg {

namespace {

std::string more_text(std::size_t count) {
  return count > 1 ? fmt::format(", and {} more", count - 1) : "";
}

void add_threads(const SandboxView& view, std::vector<std::string>& found) {
  std::size_t count = 0;
  const ThreadView* first = nullptr;
  for (const auto& thread : view.threads) {
    if (!misplaced(thread)) continue;
    if (first == nullptr) first = &thread;
    ++count;
  }
  if (first != nullptr)
    found.push_back(fmt::format("thread {} ({}) is in {}, not in {}{}", first->tid,
                                name(first->cls), first->group_now, first->group_wanted,
                                more_text(count)));
}

void add_groups(const SandboxView& view, std::vector<std::string>& found) {
  std::size_t count = 0;
  std::string first;
  for (const auto& group : view.groups) {
    if (!group.exists) {
      found.push_back(fmt::format("group {} is missing", group.path));
      continue;
    }
    for (const auto& [key, value] : group.wanted) {
      const auto now = group.limits.find(key);
      if (++count == 1)
        first = fmt::format("{} of {} is '{}', not '{}'", key, group.path,
                            now == group.limits.end() ? "" : now->second, value);
    }
  }
  if (count > 0) found.push_back(first + more_text(count));
}

}  // namespace

std::vector<std::string> amiss(const SandboxView& view) {
  std::vector<std::string> found;
  const bool wanted = view.state == SandboxState::placed || view.state == SandboxState::degraded;
  if (!wanted) return found;
  add_threads(view, found);
  add_groups(view, found);
  return found;
}

bool failing(const SandboxView& view) { return view.failing() || !amiss(view).empty(); }

}  // namespace kcg
