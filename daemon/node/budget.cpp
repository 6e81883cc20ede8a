// SPDX-License-Identifier: Apache-2.0
#include "daemon/node/budget.hpp"

#include <algorithm>

namespace kcg {

void Budget::charge(Instant cost, Instant now) {
  paid_ = std::max(paid_, now) + cost * kShare;
  if (cost > kLong) rested_ = now + 2 * cost;
}

Instant Budget::allowed(Instant now, int reserves) const {
  const auto rested = reserves > 1 ? now : rested_;
  return std::max({now, rested, paid_ - kReserve * kShare * reserves});
}

}  // namespace kcg
