// SPDX-License-Identifier: Apache-2.0
//
// How long it takes to place a pod: compared within one run, with and without what may delay it.
#pragma once

#include <string>

#include "support/live/node.hpp"

namespace kcg::live {

/// As often as long as without it may take a pod beside somebody who makes work.
inline constexpr double kMostTimes = 3;

/// Nine light pods, one after another: the median of the milliseconds from a start until all is in
/// place. Prints it and the worst; a pod that is not placed is a failure of the test.
[[nodiscard]] double placing(const Node& node, const std::string& name);

}  // namespace kcg::live
