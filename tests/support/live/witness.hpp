// SPDX-License-Identifier: Apache-2.0
//
// libcgroup as the second reader of where tasks are: it shares no code with the product.
#pragma once

#include <set>
#include <string>

namespace kcg::live {

/// Processes of a group, in the hierarchy of a v1 controller ("cgroup" for cgroup2).
[[nodiscard]] std::set<int> libcgroup_processes(const std::string& group,
                                                const std::string& controller);
/// Threads of a v1 group.
[[nodiscard]] std::set<int> libcgroup_threads(const std::string& group,
                                              const std::string& controller);

}  // namespace kcg::live
