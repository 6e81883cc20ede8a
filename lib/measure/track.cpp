// SPDX-License-Identifier: Apache-2.0
#include "measure/track.hpp"

#include <algorithm>
#include <utility>

namespace kcg {

namespace {

using Number = std::optional<std::uint64_t>;

/// Nothing is less than every number.
void raise(Number& most, const Number& value) { most = std::max(most, value); }

}  // namespace

void OverheadTrack::note(Number overhead, Instant now, Instant window) {
  if (now - began_ >= window) {
    before_ = now - began_ < 2 * window ? std::exchange(here_, std::nullopt) : std::nullopt;
    here_.reset();
    began_ = now;
  }
  used_ = overhead;
  raise(here_, overhead);
  raise(peak_, overhead);
}

OverheadMeasured OverheadTrack::measured() const {
  return {used_, std::max(here_, before_), peak_};
}

void CpuTrack::note(Number usec, Instant now) {
  const auto passed = static_cast<std::uint64_t>(std::max(now - at_, Instant(0)).count());
  const bool told = usec && usec_ && *usec >= *usec_ && passed > 0;
  milli_ = told ? Number((*usec - *usec_) * 1000 / passed) : std::nullopt;
  usec_ = usec;
  at_ = now;
}

}  // namespace kcg
