// SPDX-License-Identifier: Apache-2.0
//
// Keeping the kernel ready for a move that is about to come (L4).
#pragma once

#include <cstdint>

#include "model/observed.hpp"
#include "model/plan.hpp"

namespace kcg {

/// The first attach after a pause of some 12 ms waits for an RCU grace period, 6 to 12 ms; the next
/// ones take microseconds. A young VMM will start its vCPUs at any moment: until one is seen, its
/// main thread is attached to the group where it is already, which changes nothing, so that the
/// grace period is over when a vCPU has to move. Empty: nothing of the kind is to be expected.
[[nodiscard]] Plan warm_up(const Observed& observed, const Desired& desired);

}  // namespace kcg
