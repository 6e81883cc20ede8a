// SPDX-License-Identifier: Apache-2.0
//
// (config, observed) -> what should be (L4). The heart of the product: a pure function.
#pragma once

#include <vector>

#include "model/config.hpp"
#include "model/observed.hpp"
#include "model/plan.hpp"

namespace kcg {

/// Never fails: what cannot be decided is a condition, and `act` is false with a reason.
/// A sandbox that is gone wants no groups at all.
[[nodiscard]] Desired desired(const Config& config, const Observed& observed);

/// Why that is so, number by number, for people: only when somebody asks.
[[nodiscard]] std::vector<Explanation> explanations(const Config& config, const Observed& observed);

}  // namespace kcg
