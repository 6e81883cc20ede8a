// SPDX-License-Identifier: Apache-2.0
//
// Which hierarchies the daemon manages on this node (L5): our own reading of mountinfo below the
// configured root, so that any tree can be chosen (--cgroup-root). What libcgroup thinks of the
// same machine is in libcgroup_view.hpp, for comparison.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "kernel/mountinfo.hpp"
#include "model/config.hpp"
#include "model/host.hpp"

namespace kcg {

/// Value: "6.1.0-13-amd64" -> {6, 1}.
struct KernelVersion {
  unsigned major = 0;
  unsigned minor = 0;
  auto operator<=>(const KernelVersion&) const = default;
};
[[nodiscard]] Result<KernelVersion> parse_kernel_version(std::string_view release);

/// Fills in what the kernel's version decides. Before 5.10: refused, with the reason.
[[nodiscard]] Status apply_kernel_version(const KernelVersion& version, Host& host);

/// Mode and hierarchies from mounts alone; a unified hierarchy's controllers are not known yet.
/// `root` has no trailing slash and no symbolic links. Managed on v1: cpu, cpuacct, cpuset, memory,
/// blkio, pids, hugetlb, perf_event; a mount that also carries another controller is left alone.
[[nodiscard]] Result<Host> choose_hierarchies(const std::vector<Mount>& mounts,
                                              const std::string& root, HierarchyChoice choice);

/// All of the above for the running kernel.
[[nodiscard]] Result<Host> discover_host(const Config::Cgroup& config,
                                         const std::string& proc_root = "/proc");

}  // namespace kcg
