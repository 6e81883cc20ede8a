// SPDX-License-Identifier: Apache-2.0
#include "layout/wanted_processes.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace kcg {

namespace {

/// Where a task of class `cls` belongs in one hierarchy.
CgroupPath place(const Config& config, Form form, const LayoutPaths& paths,
                 const ClassPaths& classes, const Hierarchy& hierarchy, ThreadClass cls) {
  if (form == Form::legacy_v1) {
    const bool constrained = cls == ThreadClass::vcpu && hierarchy.splits_threads();
    return constrained ? paths.sandbox : *paths.overhead;
  }
  const bool split = config.placement.thread_groups && hierarchy.splits_threads();
  return split ? classes[cls] : paths.sandbox;
}

/// In a group of the class's own, in some hierarchy.
bool stands_in(const Thread& thread, const Places& of_class, const Places& of_vmm) {
  const auto count = std::min(of_class.size(), thread.facts.groups.size());
  for (std::size_t i = 0; i < count; ++i)
    if (of_class[i] && of_class[i] != of_vmm[i] && of_class[i]->str() == thread.facts.groups[i])
      return true;
  return false;
}

}  // namespace

std::vector<WantedProcess> wanted_processes(const Config& config, const Observed& observed,
                                            Form form, const LayoutPaths& paths,
                                            const std::vector<bool>& usable) {
  const auto& hierarchies = observed.host.hierarchies;
  const CgroupPath top = paths.overhead.value_or(paths.sandbox);
  const ClassPaths classes(paths.sandbox);
  std::array<Places, std::size(kThreadClasses)> places_of;
  const auto places = [&](ThreadClass cls) -> const Places& {
    return places_of.at(static_cast<std::size_t>(cls));
  };
  for (const auto cls : kThreadClasses) {
    auto& found = places_of.at(static_cast<std::size_t>(cls));
    found.resize(hierarchies.size());
    for (std::size_t i = 0; i < hierarchies.size(); ++i)
      if (usable[i]) found[i] = place(config, form, paths, classes, hierarchies[i], cls);
  }

  // A VMM that has lost its vCPUs is ending, or cannot be asked any more: what was known of its
  // threads when they were put into their groups is the best that is known. In the legacy layout
  // on v1 there are no such groups: Kata's own moves end where ours do.
  const auto class_of = [&](const Thread& thread) {
    if (thread.by != ClassSource::fallback || form == Form::legacy_v1) return thread.cls;
    for (const auto cls : {ThreadClass::vcpu, ThreadClass::io})
      if (stands_in(thread, places(cls), places(ThreadClass::vmm))) return cls;
    return thread.cls;
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
    for (const auto& thread : process.threads) {
      const auto cls = class_of(thread);
      one.threads.push_back({thread.facts.key, cls, places(cls)});
    }
    wanted.push_back(std::move(one));
  }
  return wanted;
}

}  // namespace kcg
