// SPDX-License-Identifier: Apache-2.0
//
// What the node's cgroup trees look like (L1).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/enums.hpp"
#include "model/ids.hpp"

namespace kcg {

/// Value: one hierarchy that the daemon manages.
struct Hierarchy {
  HierarchyName name;
  std::vector<std::string>
      controllers;  ///< v1: of this mount; v2: of the root's cgroup.controllers
  bool unified = false;
  std::string mount_point;

  [[nodiscard]] bool has(std::string_view controller) const {
    return std::find(controllers.begin(), controllers.end(), controller) != controllers.end();
  }
  /// v1: threads of one process are placed one by one in cpu, cpuacct and cpuset.
  [[nodiscard]] bool splits_threads() const {
    return unified || has("cpu") || has("cpuacct") || has("cpuset");
  }
  bool operator==(const Hierarchy&) const = default;
};

/// Value: the node. v1 and hybrid: one entry per managed v1 mount (cpu, cpuacct, cpuset, memory,
/// blkio, pids, hugetlb, perf_event), never the cgroup2 mount of a hybrid tree. v2: one entry.
struct Host {
  HierarchyMode mode = HierarchyMode::v2;
  std::vector<Hierarchy> hierarchies;
  std::uint64_t page_size = 4096;
  std::uint64_t online_cpus = 1;
  bool kernel_vhost_threads = false;  ///< kernel < 6.4: vhost-<pid> are kernel threads

  [[nodiscard]] bool unified() const { return mode == HierarchyMode::v2; }
  [[nodiscard]] const Hierarchy* find(const HierarchyName& hierarchy) const {
    for (const auto& h : hierarchies)
      if (h.name == hierarchy) return &h;
    return nullptr;
  }
  bool operator==(const Host&) const = default;
};

/// Value: one directory in one hierarchy.
struct GroupRef {
  HierarchyName hierarchy;
  CgroupPath path;
  auto operator<=>(const GroupRef&) const = default;
};

}  // namespace kcg
