// SPDX-License-Identifier: Apache-2.0
//
// The files by which groups are limited (L1): what is shown of them, and whose writing is news.
#pragma once

#include <algorithm>
#include <string_view>

namespace kcg {

/// True for a file that we may write as a limit or a seed, or that changes with one.
[[nodiscard]] inline bool is_limit_file(std::string_view file) {
  constexpr std::string_view kLimits[] = {"memory.max",       "memory.limit_in_bytes",
                                          "cpu.max",          "cpu.weight",
                                          "cpu.cfs_quota_us", "cpu.cfs_period_us",
                                          "cpu.shares",       "cpuset.cpus",
                                          "cpuset.mems",      "pids.max"};
  return std::find(std::begin(kLimits), std::end(kLimits), file) != std::end(kLimits);
}

/// True for one of them of which nothing else follows: what a group weighs grows with each vCPU.
[[nodiscard]] inline bool is_weight_file(std::string_view file) {
  return file == "cpu.weight" || file == "cpu.shares";
}

}  // namespace kcg
