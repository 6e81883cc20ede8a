// SPDX-License-Identifier: Apache-2.0
//
// Between the VMM's end and the shim's (L3). systemd cannot see into threaded groups: stopping a
// scope that has some, it kills within moments, whatever time the processes should have. The shim
// still has to clean up when Kata stops its scope; so once the VMM has gone it gets its ordinary
// group back.
#pragma once

#include "layout/layout.hpp"
#include "model/config.hpp"
#include "model/observed.hpp"
#include "model/plan.hpp"

namespace kcg {

/// True for a sandbox in a scope on v2 whose VMM ran, has ended, and left the shim behind.
[[nodiscard]] bool outlived_vmm(const Observed& observed, const LayoutDecision& decision);

/// What is wanted then: no groups by class, all processes in the sandbox group if it still exists;
/// nothing is made and no limit changes any more.
void without_classes(const Config& config, const Observed& observed, const LayoutPaths& paths,
                     Desired& want);

}  // namespace kcg
