// SPDX-License-Identifier: Apache-2.0
#include "support/fake_systemd.hpp"

#include <cerrno>
#include <utility>

#include "oci/cgroups_path.hpp"

namespace kcg::test {

namespace {

/// v1: systemd knows no cpuset, hugetlb and perf_event.
bool managed(const Hierarchy& h) {
  return h.unified || h.has("cpu") || h.has("cpuacct") || h.has("memory") || h.has("blkio") ||
         h.has("pids");
}

/// Delegate=yes: every controller reaches the scope.
void offer_controllers(CgroupTree& tree, const CgroupPath& slice) {
  if (!slice.is_root()) offer_controllers(tree, slice.parent());
  for (const auto& hierarchy : tree.host().hierarchies)
    for (const auto& controller : hierarchy.controllers)
      if (hierarchy.unified)  // ignored: what is above does not offer it
        (void)tree.write({hierarchy.name, slice}, "cgroup.subtree_control", "+" + controller);
}

}  // namespace

Status FakeSystemd::start_scope(const ScopeRequest& request) {
  if (fault_ != 0)
    return fail(fault_, "StartTransientUnit {}: {}", request.unit, errno_text(fault_));
  if (scopes_.contains(request.unit))
    return fail(EEXIST, "StartTransientUnit {}: the unit exists", request.unit);
  if (request.members.empty())
    return fail(EINVAL, "StartTransientUnit {}: a scope needs a process", request.unit);
  waiting_.push_back(request);
  return {};
}

Status FakeSystemd::set_limits(const std::string& unit, const std::vector<WantedFile>& limits) {
  if (fault_ != 0) return fail(fault_, "SetUnitProperties {}: {}", unit, errno_text(fault_));
  const auto scope = scopes_.find(unit);
  if (scope == scopes_.end()) return fail(ENOENT, "SetUnitProperties {}: no such unit", unit);
  tree_.outside([&](CgroupTree& tree) {
    for (const auto& hierarchy : tree.host().hierarchies)
      for (const auto& limit :
           limits)  // ignored: a controller that is not there is systemd's affair
        (void)tree.write({hierarchy.name, scope->second}, limit.key, limit.value);
  });
  return {};
}

void FakeSystemd::make_scope(const ScopeRequest& request) {
  const auto slice = expand_slice(request.slice).value();
  const auto path = slice.child(request.unit).value();
  scopes_[request.unit] = path;
  for (const auto& hierarchy : tree_.host().hierarchies)
    if (managed(hierarchy)) tree_.make_all(hierarchy.name, path.str());
  tree_.outside([&](CgroupTree& tree) {
    offer_controllers(tree, slice);
    for (const auto& hierarchy : tree.host().hierarchies)
      for (const auto& member : request.members)  // ignored: it may have ended meanwhile
        (void)tree.write({hierarchy.name, path}, "cgroup.procs", std::to_string(member.pid));
  });
  (void)set_limits(request.unit, request.limits);  // ignored: the scope exists
}

std::vector<std::string> FakeSystemd::finish_jobs() {
  std::vector<std::string> units;
  for (const auto& request : std::exchange(waiting_, {})) {
    make_scope(request);
    units.push_back(request.unit);
  }
  return units;
}

std::vector<std::string> FakeSystemd::fail_jobs() {
  std::vector<std::string> units;
  for (const auto& request : std::exchange(waiting_, {})) units.push_back(request.unit);
  return units;
}

void FakeSystemd::collect_empty_scopes() {
  std::erase_if(scopes_, [&](const auto& scope) {
    bool removed = false;
    tree_.outside([&](CgroupTree& tree) {
      for (const auto& hierarchy : tree.host().hierarchies) {
        if (!managed(hierarchy)) continue;
        const GroupRef group{hierarchy.name, scope.second};
        const auto names = tree.children(group);
        for (const auto& name : names.value_or(std::vector<std::string>{}))
          (void)tree.remove({hierarchy.name, scope.second.child(name).value()});
        removed = tree.remove(group).has_value() || removed;
      }
    });
    return removed;
  });
}

}  // namespace kcg::test
