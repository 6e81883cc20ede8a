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

/// As over the bus: what there is no property for cannot be asked for.
Status set_files(FakeUnit& unit, const std::vector<WantedFile>& files) {
  const auto properties = unit_properties(files);
  if (!properties) return forward(properties.error());
  return unit.set(*properties);
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
  FakeUnit unit;
  if (auto set = set_files(unit, request.limits); !set) return forward(set.error(), request.unit);
  waiting_.push_back(request);
  return {};
}

Status FakeSystemd::set_limits(const std::string& unit, const std::vector<WantedFile>& limits) {
  if (fault_ != 0) return fail(fault_, "SetUnitProperties {}: {}", unit, errno_text(fault_));
  const auto scope = scopes_.find(unit);
  if (scope == scopes_.end()) return fail(ENOENT, "SetUnitProperties {}: no such unit", unit);
  if (auto set = set_files(scope->second.properties, limits); !set)
    return forward(set.error(), unit);
  limits_.insert(unit);
  return {};
}

void FakeSystemd::write(const std::string& unit) {
  const auto scope = scopes_.find(unit);
  if (scope == scopes_.end()) return;
  tree_.outside([&](CgroupTree& tree) {
    for (const auto& hierarchy : tree.host().hierarchies)
      for (const auto& file : scope->second.properties.files(hierarchy))
        // ignored: a controller that is not there is systemd's affair
        (void)tree.write({hierarchy.name, scope->second.path}, file.key, file.value);
  });
}

void FakeSystemd::make_scope(const ScopeRequest& request) {
  const auto slice = expand_slice(request.slice).value();
  const auto path = slice.child(request.unit).value();
  scopes_[request.unit].path = path;
  (void)set_files(scopes_[request.unit].properties, request.limits);  // ignored: tried before
  for (const auto& hierarchy : tree_.host().hierarchies)
    if (managed(hierarchy)) tree_.make_all(hierarchy.name.str(), path.str());
  tree_.outside([&](CgroupTree& tree) {
    offer_controllers(tree, slice);
    for (const auto& hierarchy : tree.host().hierarchies)
      // ignored: it may have ended meanwhile
      (void)tree.write({hierarchy.name, path}, "cgroup.procs", std::to_string(request.member.pid));
  });
  write(request.unit);
}

std::vector<std::string> FakeSystemd::finish_jobs() {
  std::vector<std::string> units;
  for (const auto& request : std::exchange(waiting_, {})) {
    make_scope(request);
    units.push_back(request.unit);
  }
  for (const auto& unit : std::exchange(limits_, {})) {
    write(unit);
    units.push_back(unit);
  }
  return units;
}

std::vector<std::string> FakeSystemd::fail_jobs() {
  std::vector<std::string> units;
  for (const auto& request : std::exchange(waiting_, {})) units.push_back(request.unit);
  for (const auto& unit : std::exchange(limits_, {})) units.push_back(unit);
  return units;
}

void FakeSystemd::collect_empty_scopes() {
  std::erase_if(scopes_, [&](const auto& scope) {
    bool removed = false;
    tree_.outside([&](CgroupTree& tree) {
      for (const auto& hierarchy : tree.host().hierarchies) {
        if (!managed(hierarchy)) continue;
        const GroupRef group{hierarchy.name, scope.second.path};
        const auto names = tree.children(group);
        for (const auto& name : names.value_or(std::vector<std::string>{}))
          (void)tree.remove({hierarchy.name, scope.second.path.child(name).value()});
        removed = tree.remove(group).has_value() || removed;
      }
    });
    return removed;
  });
}

}  // namespace kcg::test
