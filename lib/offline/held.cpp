// SPDX-License-Identifier: Apache-2.0
#include "offline/held.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "model/errnos.hpp"
#include "observe/scan.hpp"

namespace kcg {

namespace {

/// Adds the numbers in a file. A group that is gone, or that lists none, holds nobody.
Status add_tasks(const CgroupTree& tree, const GroupRef& ref, const char* file,
                 std::set<Pid>& tasks) {
  const auto text = tree.read(ref, file);
  if (!text && errnos::no_group_file(text.error().code)) return {};
  if (!text) return forward(text.error());
  for (const auto word : words(*text))
    if (const auto pid = parse_pid(word)) tasks.insert(*pid);
  return {};
}

bool topmost(const std::set<GroupRef>& marked, const GroupRef& ref) {
  return std::none_of(marked.begin(), marked.end(), [&](const GroupRef& other) {
    return other != ref && other.hierarchy == ref.hierarchy && ref.path.within(other.path);
  });
}

}  // namespace

Result<HeldGroups> held_groups(const CgroupTree& tree, const std::string& id,
                               const std::set<GroupRef>& marked) {
  HeldGroups held;
  held.id = id;
  std::set<std::string> tops;
  std::set<Pid> processes, threads;
  for (const auto& ref : marked) {
    const auto* hierarchy = tree.host().find(ref.hierarchy);
    const bool unified = hierarchy != nullptr && hierarchy->unified;
    if (topmost(marked, ref)) tops.emplace(ref.path.str());
    auto read = add_tasks(tree, ref, "cgroup.procs", processes);
    if (read) read = add_tasks(tree, ref, unified ? "cgroup.threads" : "tasks", threads);
    if (!read) return forward(read.error());
  }
  held.groups.assign(tops.begin(), tops.end());
  held.processes = processes.size();
  held.threads = threads.size();
  return held;
}

Result<std::vector<HeldGroups>> find_held(const CgroupTree& tree) {
  std::vector<HeldGroups> all;
  for (const auto& [id, marked] : find_marked(tree)) {
    auto held = held_groups(tree, id.str(), marked);
    if (!held) return forward(held.error());
    all.push_back(*std::move(held));
  }
  return all;
}

}  // namespace kcg
