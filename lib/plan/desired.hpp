// SPDX-License-Identifier: Apache-2.0
//
// (config, observed) -> what should be (L4). The heart of the product: a pure function.
#pragma once

#include "model/config.hpp"
#include "model/observed.hpp"
#include "model/plan.hpp"

namespace kcg {

/// Never fails: what cannot be decided is a condition, and `act` is false with a reason.
/// A sandbox that is gone wants no groups at all.
[[nodiscard]] Desired desired(const Config& config, const Observed& observed);

}  // namespace kcg
