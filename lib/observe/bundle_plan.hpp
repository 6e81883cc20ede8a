// SPDX-License-Identifier: Apache-2.0
//
// `plan --bundle` (L6): what would be done for bundles that need not run, on an assumed host.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/config.hpp"
#include "show/plan_documents.hpp"

namespace kcg {

/// `plan --bundle`: the first bundle is the sandbox's, the others its containers'; they need not
/// run. No I/O besides reading the bundle directories.
[[nodiscard]] Result<Planned> plan_bundles(const Config& config,
                                           const std::vector<std::string>& directories,
                                           HierarchyMode assumed);

}  // namespace kcg
