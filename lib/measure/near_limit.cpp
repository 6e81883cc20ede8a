// SPDX-License-Identifier: Apache-2.0
#include "measure/near_limit.hpp"

namespace kcg {

namespace {

constexpr std::uint64_t kNearPercent = 95;
constexpr std::uint64_t kFarPercent = 90;

/// Right to 100 bytes, and never too large for 64 bits.
std::uint64_t share(const MemoryCeiling& limit, std::uint64_t percent) {
  return limit.bytes / 100 * percent;
}

}  // namespace

bool NearLimitTrack::matters(std::uint64_t used, const MemoryCeiling& limit) {
  return used >= share(limit, kFarPercent);
}

void NearLimitTrack::note(std::optional<std::uint64_t> kept,
                          const std::optional<MemoryCeiling>& limit) {
  if (limit && !kept) return;
  if (!limit || !matters(*kept, *limit)) {
    *this = {};
    return;
  }
  last_ = NearLimit{*kept, *limit};
  const bool above = *kept > share(*limit, kNearPercent);
  near_ = near_ || (above && above_);
  above_ = above;
}

}  // namespace kcg
