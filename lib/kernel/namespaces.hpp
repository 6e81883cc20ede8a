// SPDX-License-Identifier: Apache-2.0
//
// Whether a process sees the node or only a part of it (L2). The first namespace of each kind has a
// fixed inode number (include/linux/proc_ns.h, since 3.8 and 4.6), which nothing else ever gets.
#pragma once

#include <string>

namespace kcg {

/// Value: link texts of /proc/<pid>/ns, such as "pid:[4026531836]"; "" where the kernel has no
/// namespaces of the kind.
struct Namespaces {
  std::string pid;
  std::string user;
  std::string cgroup;
};

/// Which namespace is not the node's and what that would mean, for people; "" if all are.
[[nodiscard]] std::string namespace_problem(const Namespaces& own);

}  // namespace kcg
