// SPDX-License-Identifier: Apache-2.0
//
// Which groups somebody is in after a round (L7, pure): that these are not empty is no news.
#pragma once

#include <set>

#include "pass/pass.hpp"

namespace kcg {

/// Where a task was seen, or taken to, and all groups above. Of v2 alone: v1 tells nobody.
[[nodiscard]] std::set<GroupRef> populated(const Round& last);

}  // namespace kcg
