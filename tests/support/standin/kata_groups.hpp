// SPDX-License-Identifier: Apache-2.0
//
// The groups that Kata itself makes with the cgroupfs driver: kata_<id> beside the pod's container
// groups, in every hierarchy, and with sandbox_cgroup_only=false one more for the overhead.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/ids.hpp"

namespace kcg::standin {

/// Value: one mounted hierarchy.
struct Mount {
  std::string path;
  std::vector<std::string> controllers;  ///< v1 only
  bool unified = false;
};

/// The hierarchies that a shim works with: all managed v1 ones, or cgroup2 alone. `choice`: v1, v2
/// or auto (v1 where the memory controller is mounted).
[[nodiscard]] Result<std::vector<Mount>> find_mounts(const std::string& choice);

/// Value: one group, the same path in every hierarchy.
class KataGroup final {
 public:
  KataGroup(std::vector<Mount> mounts, std::string path)
      : mounts_(std::move(mounts)), path_(std::move(path)) {}

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Makes the missing directories; seeds a v1 cpuset from its parent, as Kata's library does.
  [[nodiscard]] Status make() const;
  [[nodiscard]] Status remove() const;
  [[nodiscard]] Status attach_process(Pid pid) const;
  /// v1: the thread alone; v2: its whole process, which is what Kata does there.
  [[nodiscard]] Status attach_thread(Pid tid) const;
  /// v2: `controllers` ("+cpu +cpuset") come to it from the group above.
  [[nodiscard]] Status enable(const std::string& controllers) const;
  [[nodiscard]] Status set_cpus(const std::string& list) const;
  /// The group above, where a shim goes before it removes its own.
  [[nodiscard]] KataGroup parent() const;
  [[nodiscard]] bool unified() const { return mounts_.front().unified; }
  /// In the first hierarchy.
  [[nodiscard]] std::string directory() const { return mounts_.front().path + path_; }

 private:
  [[nodiscard]] Status write_all(const char* file, const std::string& text) const;

  std::vector<Mount> mounts_;
  std::string path_;
};

}  // namespace kcg::standin
