// SPDX-License-Identifier: Apache-2.0
#include "observe/scan.hpp"

#include <utility>
#include <vector>

#include "model/mark.hpp"

namespace kcg {

std::map<SandboxId, std::set<Pid>> find_shims(ProcView& proc, const BundleOwner& owner) {
  return find_shims(proc, proc.pids().value_or(std::vector<Pid>{}), owner);
}

std::map<SandboxId, std::set<Pid>> find_shims(ProcView& proc, const std::vector<Pid>& pids,
                                              const BundleOwner& owner) {
  std::map<SandboxId, std::set<Pid>> found;
  const auto names = proc.names(pids);
  for (std::size_t i = 0; i < pids.size(); ++i) {
    if (!names[i] || !shim_comm(names[i]->comm)) continue;
    if (const auto claim = shims_claim(proc, pids[i], owner)) found[claim->id].insert(pids[i]);
  }
  return found;
}

std::map<SandboxId, std::set<GroupRef>> find_marked(const CgroupTree& tree) {
  MarkSearch search(tree);
  while (search.look(1)) continue;
  return search.found();
}

MarkSearch::MarkSearch(const CgroupTree& tree, std::set<SandboxId> noted)
    : tree_(tree), noted_(std::move(noted)) {
  for (const auto& hierarchy : tree.host().hierarchies) open_.push_back({hierarchy.name, {}});
}

bool MarkSearch::look(std::size_t most) {
  const Holding holding(tree_);
  for (; most > 0 && !open_.empty(); --most) {
    const GroupRef ref = std::move(open_.back());
    open_.pop_back();
    look_at(ref);
  }
  return !open_.empty();
}

void MarkSearch::look_at(const GroupRef& ref) {
  const auto mark = tree_.mark(ref);
  if (!mark) return;
  const auto id = *mark ? SandboxId::parse((*mark)->text) : fail(0, "none");
  if (id && mark_fits(*id, ref.path)) found_[*id].insert(ref);
  for (const auto& one : noted_)
    if (!*mark && only_ours(one, ref.path)) found_[one].insert(ref);
  const auto names = tree_.children(ref);
  if (!names) return;
  for (const auto& name : *names)
    if (const auto child = ref.path.child(name)) open_.push_back({ref.hierarchy, *child});
}

}  // namespace kcg
