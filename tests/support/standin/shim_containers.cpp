// SPDX-License-Identifier: Apache-2.0
//
// Containers of a sandbox come, change and go; what that does to Kata's groups and to the vCPUs.
#include <filesystem>

#include "following.hpp"
#include "shim.hpp"

namespace kcg::standin {

Status Shim::create_container(const std::string& id) {
  const auto bundles = std::filesystem::path(options_.bundle).parent_path();
  auto container = read_container(id, bundles / id);
  if (!container) return forward(container.error());
  containers_.push_back(std::move(*container));
  auto done = resources_changed();
  if (!done) containers_.pop_back();
  auto saved = save(state_.c_str());
  return done ? saved : done;
}

Status Shim::set_state(const std::string& id, const char* state) {
  auto container = find_container(containers_, id);
  if (!container) return forward(container.error());
  (*container)->state = state;
  return save(state_.c_str());
}

Status Shim::update_container(const std::string& id, const std::vector<std::string>& changes) {
  auto container = find_container(containers_, id);
  if (!container) return forward(container.error());
  for (const auto& change : changes)
    if (auto done = update_resources(**container, change); !done) return done;
  if (auto done = resources_changed(); !done) return done;
  return save(state_.c_str());
}

Status Shim::delete_container(const std::string& id) {
  auto container = find_container(containers_, id);
  if (!container) return forward(container.error());
  containers_.erase(*container);
  forget_container(options_, id);
  auto done = resources_changed();
  auto saved = save(state_.c_str());
  return done ? saved : done;
}

Status Shim::resources_changed() {
  const auto cpus = cpus_of(containers_);
  const bool hold = !options_.sandbox_cgroup_only && (qmp_ || !options_.qmp);
  // Asked for first: between the cpuset and the pinning is no time for anything.
  const auto vcpus = hold || options_.pinning ? vcpu_threads() : Result<std::vector<Pid>>{};
  if (!vcpus) return forward(vcpus.error());
  return follow_containers({&group_, hold, options_.pinning ? &pinning_ : nullptr}, *vcpus, cpus);
}

}  // namespace kcg::standin
