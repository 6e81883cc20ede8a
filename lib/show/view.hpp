// SPDX-License-Identifier: Apache-2.0
//
// What people and programs are shown (L4): one view per sandbox.
#pragma once

#include <string>
#include <vector>

#include "identify/recognise.hpp"
#include "model/observed.hpp"
#include "model/plan.hpp"
#include "model/standing.hpp"
#include "model/view.hpp"

namespace kcg {

/// Without threads. `plan`: what is between the two, whether it will be done or not.
[[nodiscard]] SandboxView make_view(const Observed& observed, const Desired& desired,
                                    const Plan& plan, const Standing& standing);
/// For who asks about them: there may be thousands.
[[nodiscard]] std::vector<ThreadView> thread_views(const Observed& observed,
                                                   const Desired& desired);

/// A bundle that is not managed, with the reason, for `list --all`.
[[nodiscard]] SandboxView ignored_view(const Assembled& assembled);
/// Bundles that claim the sandbox and were refused, each with the reason.
[[nodiscard]] std::vector<SandboxView> ignored_bundles(const Assembled& assembled);

}  // namespace kcg
