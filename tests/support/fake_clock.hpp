// SPDX-License-Identifier: Apache-2.0
//
// A clock whose hands the test turns.
#pragma once

#include "base/clock.hpp"

namespace kcg::test {

/// Value: starts a minute after boot, so that ages and start times are plausible.
class FakeClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const override { return now_; }
  [[nodiscard]] std::int64_t wall_seconds() const override {
    return 1'700'000'000 + std::chrono::duration_cast<std::chrono::seconds>(now_).count();
  }
  void advance(Instant by) { now_ += by; }

 private:
  Instant now_ = std::chrono::seconds(60);
};

}  // namespace kcg::test
