// SPDX-License-Identifier: Apache-2.0
#include "observe/scan.hpp"

#include <string_view>
#include <vector>

#include "plan/prove.hpp"

namespace kcg {

bool shim_comm(std::string_view comm) { return comm.starts_with("containerd-shim"); }

std::map<SandboxId, std::set<Pid>> find_shims(ProcView& proc) {
  std::map<SandboxId, std::set<Pid>> found;
  const auto pids = proc.pids();
  if (!pids) return found;
  for (const Pid pid : *pids) {
    const auto stat = proc.stat(pid);
    if (!stat || !shim_comm(stat->comm)) continue;
    const auto facts = proc.facts(pid);
    const auto text = facts ? shim_sandbox_id(*facts) : std::nullopt;
    const auto id = text ? SandboxId::parse(*text) : fail(0, "none");
    if (id) found[*id].insert(pid);
  }
  return found;
}

std::map<SandboxId, std::set<GroupRef>> find_marked(const CgroupTree& tree) {
  std::map<SandboxId, std::set<GroupRef>> found;
  std::vector<GroupRef> open;
  for (const auto& hierarchy : tree.host().hierarchies) open.push_back({hierarchy.name, {}});
  while (!open.empty()) {
    const GroupRef ref = std::move(open.back());
    open.pop_back();
    const auto mark = tree.mark(ref);
    if (!mark) continue;
    const auto id = *mark ? SandboxId::parse(**mark) : fail(0, "none");
    if (id) found[*id].insert(ref);
    const auto names = tree.children(ref);
    if (!names) continue;
    for (const auto& name : *names)
      if (const auto child = ref.path.child(name)) open.push_back({ref.hierarchy, *child});
  }
  return found;
}

}  // namespace kcg
