// SPDX-License-Identifier: Apache-2.0
//
// `top`: reading the kernel's counters of the sandboxes' groups.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cgroup/tree.hpp"
#include "model/view.hpp"
#include "tools/cgctl/source.hpp"
#include "tools/cgctl/top/model.hpp"

namespace kcg::cgctl::top {

/// The counters of one sandbox now. `view` says which groups it has.
[[nodiscard]] Usage usage_of(const CgroupTree& tree, const SandboxView& view);

/// All sandboxes of the source now. What groups a sandbox has is asked once for each state that it
/// is in: `known` keeps it.
[[nodiscard]] Result<Sample> take_sample(const CgroupTree& tree, Source& source,
                                         std::map<std::string, SandboxView>& known);

}  // namespace kcg::cgctl::top
