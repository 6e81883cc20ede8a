// SPDX-License-Identifier: Apache-2.0
#include "layout/wanted_processes.hpp"

namespace kcg {

namespace {

/// Where a task of class `cls` belongs in one hierarchy.
CgroupPath place(const Config& config, Form form, const LayoutPaths& paths,
                 const Hierarchy& hierarchy, ThreadClass cls) {
  if (form == Form::legacy_v1) {
    const bool constrained = cls == ThreadClass::vcpu && hierarchy.splits_threads();
    return constrained ? paths.sandbox : *paths.overhead;
  }
  const bool split = config.placement.thread_groups && hierarchy.splits_threads();
  return split ? class_path(paths.sandbox, cls) : paths.sandbox;
}

}  // namespace

std::vector<WantedProcess> wanted_processes(const Config& config, const Observed& observed,
                                            Form form, const LayoutPaths& paths,
                                            const std::vector<bool>& usable) {
  const auto& hierarchies = observed.host.hierarchies;
  const CgroupPath top = paths.overhead.value_or(paths.sandbox);
  const auto places = [&](ThreadClass cls) {
    Places found(hierarchies.size());
    for (std::size_t i = 0; i < hierarchies.size(); ++i)
      if (usable[i]) found[i] = place(config, form, paths, hierarchies[i], cls);
    return found;
  };

  std::vector<WantedProcess> wanted;
  for (const auto& process : observed.processes) {
    // No other is moved, whoever calls it proven.
    if (process.facts.kernel_thread && process.role != ProcessRole::kernel_worker) continue;
    WantedProcess one;
    one.key = process.facts.key;
    one.role = process.role;
    one.cls = default_class(process.role);
    one.home = places(one.cls);
    one.top.resize(hierarchies.size());
    for (std::size_t i = 0; i < hierarchies.size(); ++i)
      if (usable[i]) one.top[i] = top;
    for (const auto& thread : process.threads)
      one.threads.push_back({thread.facts.key, thread.cls, places(thread.cls)});
    wanted.push_back(std::move(one));
  }
  return wanted;
}

}  // namespace kcg
