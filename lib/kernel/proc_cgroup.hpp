// SPDX-License-Identifier: Apache-2.0
//
// /proc/<pid>/cgroup -> groups of a task (L2). Source: cgroups(7). Called for every thread in every
// pass: views into the text, and one allocation per answer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/host.hpp"

namespace kcg {

/// Value: one line, as views into the text it was read from.
struct ProcCgroup {
  std::string_view controllers;  ///< "cpu,cpuacct", "name=systemd"; "" for cgroup2
  std::string_view path;         ///< without the " (deleted)" that the kernel adds on cgroup2
  bool unified = false;
  bool deleted = false;  ///< the group was removed while the task still ends; cgroup2 only
  bool operator==(const ProcCgroup&) const = default;
};

[[nodiscard]] Result<std::vector<ProcCgroup>> parse_proc_cgroup(std::string_view text);

/// The task's path in each of host.hierarchies, same order. "" where the file has no line for it (a
/// hierarchy that was mounted later than the text was read); a caller compares and never writes it.
[[nodiscard]] Result<std::vector<std::string>> groups_for(const Host& host, std::string_view text);

}  // namespace kcg
