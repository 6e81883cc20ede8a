// SPDX-License-Identifier: Apache-2.0
#include "layout/after_vmm.hpp"

#include "layout/wanted_processes.hpp"

namespace kcg {

bool outlived_vmm(const Observed& observed, const LayoutDecision& decision) {
  const bool ours = observed.proven_kata && !observed.unmanaged && observed.fixed;
  const bool in_scope = observed.host.unified() && decision.path.driver == Driver::systemd;
  const bool ended = !vmm_started(observed) && !observed.unread();
  return ours && in_scope && ended && !observed.processes.empty();
}

void without_classes(const Config& config, const Observed& observed, const LayoutPaths& paths,
                     Desired& want) {
  std::vector<bool> usable;
  for (const auto& hierarchy : observed.host.hierarchies) {
    const auto* group = observed.group({hierarchy.name, paths.sandbox});
    usable.push_back(group != nullptr && group->mark == observed.inputs.id.str());
    if (!usable.back()) continue;
    WantedGroup sandbox;
    sandbox.role = GroupRole::sandbox;
    sandbox.ref = group->ref;
    sandbox.type = GroupType::domain;
    want.groups.push_back(std::move(sandbox));
  }
  Config together = config;
  together.placement.thread_groups = false;
  want.processes = wanted_processes(together, observed, want.form, paths, usable);
  want.act = true;
}

}  // namespace kcg
