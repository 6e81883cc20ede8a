// SPDX-License-Identifier: Apache-2.0
//
// What Kata does after each change of a container.
#pragma once

#include <vector>

#include "base/result.hpp"
#include "kata_groups.hpp"
#include "model/ids.hpp"
#include "pinning.hpp"

namespace kcg::standin {

/// Value: what follows the containers; a null pointer: that does not.
struct Followers {
  const KataGroup* group = nullptr;
  bool hold = false;  ///< the vCPUs are attached to the group anew (sandbox_cgroup_only=false)
  Pinning* pinning = nullptr;
};

/// Kata's cpuset, its hold on the vCPUs, and pinning, in this order and with nothing in between.
/// `cpus`: of all containers.
[[nodiscard]] Status follow_containers(const Followers& followers, const std::vector<Pid>& vcpus,
                                       const std::vector<int>& cpus);

}  // namespace kcg::standin
