// SPDX-License-Identifier: Apache-2.0
//
// How long to wait before something that failed is tried again (L6, pure).
#pragma once

#include <algorithm>

#include "base/clock.hpp"

namespace kcg {

/// Value: each failure doubles the pause, up to `most`. Only after `most` without a failure does it
/// begin anew: what works and fails in turns is not tried, and told of, without end.
class Backoff final {
 public:
  Backoff(Instant first, Instant most) : first_(first), most_(most), pause_(first) {}

  /// It has failed now: the pause from here on.
  [[nodiscard]] Instant failed(Instant now) {
    if (any_ && now < due_ + most_)
      pause_ = std::min(pause_ * 2, most_);
    else
      pause_ = first_;
    any_ = true;
    due_ = now + pause_;
    return pause_;
  }

 private:
  Instant first_;
  Instant most_;
  Instant pause_;
  Instant due_{0};
  bool any_ = false;
};

}  // namespace kcg
