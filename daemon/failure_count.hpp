// SPDX-License-Identifier: Apache-2.0
//
// When failures are so many that going on is no use (L9, pure).
#pragma once

#include "base/clock.hpp"

namespace kcg {

/// Value: counts within windows of time.
class FailureCount final {
 public:
  static constexpr int kMost = 20;
  static constexpr Instant kWindow = std::chrono::seconds(10);

  /// One more. False: there were more than kMost in this window.
  [[nodiscard]] bool add(Instant now) {
    if (now >= begin_ + kWindow) {
      begin_ = now;
      count_ = 0;
    }
    return ++count_ <= kMost;
  }

 private:
  Instant begin_{0};
  int count_ = 0;
};

}  // namespace kcg
