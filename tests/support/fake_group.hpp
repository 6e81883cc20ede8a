// SPDX-License-Identifier: Apache-2.0
//
// One directory of a FakeTree, and the kernel's rules about domains and threads on cgroup v2. The
// function names and the order of the checks follow kernel/cgroup/cgroup.c, so that a doubt can be
// settled by reading both side by side.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "model/devices.hpp"
#include "model/host.hpp"

namespace kcg::test {

/// Resource: a node of the tree; owns its children.
struct FakeGroup {
  const Hierarchy* hierarchy = nullptr;
  FakeGroup* parent = nullptr;
  std::string name;
  std::uint64_t inode = 0;
  bool threaded = false;                          ///< v2
  std::set<std::string> subtree;                  ///< v2: cgroup.subtree_control
  std::set<Pid> tasks;                            ///< tids that are exactly here
  std::optional<std::string> mark, earlier_mark;  ///< values of the attributes
  bool roots = true;                              ///< the directory's owner is root
  DevicePolicy devices;                           ///< v2
  std::map<std::string, std::string> values;      ///< control files that differ from their default
  std::map<std::string, std::unique_ptr<FakeGroup>> children;

  [[nodiscard]] std::string path() const;
};

/// cpu, cpuset, pids and perf_event may stand inside a threaded subtree.
[[nodiscard]] bool threaded_controller(std::string_view controller);
/// Controllers that are active in this group (v1: those of the mount).
[[nodiscard]] std::set<std::string> controllers_of(const FakeGroup& group);

[[nodiscard]] bool populated(const FakeGroup& group);
/// The domain that accounts for this group's tasks.
[[nodiscard]] const FakeGroup& domain_of(const FakeGroup& group);
[[nodiscard]] bool can_be_thread_root(const FakeGroup& group);
[[nodiscard]] bool is_thread_root(const FakeGroup& group);
[[nodiscard]] bool is_valid_domain(const FakeGroup& group);
/// Contents of cgroup.type.
[[nodiscard]] std::string_view type_of(const FakeGroup& group);

/// Each returns an errno, 0 = allowed (and, for the last two, done).
[[nodiscard]] int vet_attach(const FakeGroup& from, const FakeGroup& to, bool whole_process);
[[nodiscard]] int make_threaded(FakeGroup& group);
[[nodiscard]] int write_subtree_control(FakeGroup& group, std::string_view text);

}  // namespace kcg::test
