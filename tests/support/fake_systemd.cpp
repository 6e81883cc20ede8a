// SPDX-License-Identifier: Apache-2.0
#include "support/fake_systemd.hpp"

#include <cerrno>
#include <utility>

#include "base/text.hpp"
#include "oci/cgroups_path.hpp"

namespace kcg::test {

namespace {

/// v1: systemd knows no cpuset, hugetlb and perf_event.
bool managed(const Hierarchy& h) {
  return h.unified || h.has("cpu") || h.has("cpuacct") || h.has("memory") || h.has("blkio") ||
         h.has("pids");
}

/// systemd keeps a CPU quota as whole per cents: of the usual period of 100 ms, whole milliseconds.
std::string rounded(const WantedFile& limit) {
  const bool v2 = limit.key == "cpu.max";
  if (!v2 && limit.key != "cpu.cfs_quota_us") return limit.value;
  const auto quota = parse_u64(limit.value.substr(0, limit.value.find(' ')));
  if (!quota) return limit.value;
  return std::to_string((*quota + 999) / 1000 * 1000) + (v2 ? " 100000" : "");
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
  waiting_.push_back(request);
  return {};
}

Status FakeSystemd::set_limits(const std::string& unit, const std::vector<WantedFile>& limits) {
  if (fault_ != 0) return fail(fault_, "SetUnitProperties {}: {}", unit, errno_text(fault_));
  const auto scope = scopes_.find(unit);
  if (scope == scopes_.end()) return fail(ENOENT, "SetUnitProperties {}: no such unit", unit);
  for (const auto& limit : limits) limits_.emplace_back(unit, limit);
  return {};
}

void FakeSystemd::write(const std::string& unit, const WantedFile& limit) {
  const auto scope = scopes_.find(unit);
  if (scope == scopes_.end()) return;
  tree_.outside([&](CgroupTree& tree) {
    for (const auto& hierarchy : tree.host().hierarchies)
      // ignored: a controller that is not there is systemd's affair
      (void)tree.write({hierarchy.name, scope->second}, limit.key, rounded(limit));
  });
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
      // ignored: it may have ended meanwhile
      (void)tree.write({hierarchy.name, path}, "cgroup.procs", std::to_string(request.member.pid));
  });
  for (const auto& limit : request.limits) write(request.unit, limit);
}

std::vector<std::string> FakeSystemd::finish_jobs() {
  std::vector<std::string> units;
  for (const auto& request : std::exchange(waiting_, {})) {
    make_scope(request);
    units.push_back(request.unit);
  }
  for (const auto& [unit, limit] : std::exchange(limits_, {})) {
    write(unit, limit);
    units.push_back(unit);
  }
  return units;
}

std::vector<std::string> FakeSystemd::fail_jobs() {
  std::vector<std::string> units;
  for (const auto& request : std::exchange(waiting_, {})) units.push_back(request.unit);
  for (const auto& [unit, limit] : std::exchange(limits_, {})) units.push_back(unit);
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
