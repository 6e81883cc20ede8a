// SPDX-License-Identifier: Apache-2.0
#include "following.hpp"

#include "containers.hpp"

namespace kcg::standin {

Status follow_containers(const Followers& followers, const std::vector<Pid>& vcpus,
                         const std::vector<int>& cpus) {
  const auto* const group = followers.group;
  if (group != nullptr && !cpus.empty())
    if (auto done = group->set_cpus(cpu_list(cpus)); !done) return done;
  if (group != nullptr && followers.hold)
    for (const Pid tid : vcpus)
      if (auto done = group->attach_thread(tid); !done) return done;
  return followers.pinning != nullptr ? followers.pinning->follow(vcpus, cpus) : Status{};
}

}  // namespace kcg::standin
