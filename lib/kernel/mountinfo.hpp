// SPDX-License-Identifier: Apache-2.0
//
// /proc/<pid>/mountinfo -> values (L2). Source: proc(5).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace kcg {

/// Value: one mount, octal escapes ("\040") decoded.
struct Mount {
  std::string root;         ///< directory of the file system that is mounted here
  std::string mount_point;  ///< as this process sees it
  std::string fs_type;      ///< "cgroup", "cgroup2", "debugfs", ...
  std::string source;
  std::vector<std::string> super_options;  ///< {"rw", "cpu", "cpuacct"}
  [[nodiscard]] bool has_option(std::string_view option) const;
  bool operator==(const Mount&) const = default;
};

/// All mounts in the file's order: a later one hides an earlier one on the same mount point.
[[nodiscard]] Result<std::vector<Mount>> parse_mountinfo(std::string_view text);

}  // namespace kcg
