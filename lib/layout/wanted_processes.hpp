// SPDX-License-Identifier: Apache-2.0
//
// Where each proven process and thread belongs (L3).
#pragma once

#include <vector>

#include "layout/layout.hpp"
#include "model/config.hpp"
#include "model/observed.hpp"
#include "model/plan.hpp"

namespace kcg {

/// `usable[i]`: the i-th hierarchy of the host takes part.
[[nodiscard]] std::vector<WantedProcess> wanted_processes(const Config& config,
                                                          const Observed& observed, Form form,
                                                          const LayoutPaths& paths,
                                                          const std::vector<bool>& usable);

}  // namespace kcg
