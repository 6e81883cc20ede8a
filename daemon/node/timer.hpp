// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "base/clock.hpp"

namespace kcg {

/// Value: when a timer of Turns runs out, and which one of those it is. No two are the same.
using Timer = std::pair<Instant, std::uint64_t>;

}  // namespace kcg
