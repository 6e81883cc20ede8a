// SPDX-License-Identifier: Apache-2.0
//
// Time as a seam (L0): tests turn the hands themselves.
#pragma once

#include <chrono>
#include <cstdint>

namespace kcg {

/// Monotonic time since an arbitrary point (CLOCK_BOOTTIME in the real clock).
using Instant = std::chrono::microseconds;

/// Interface: what time it is.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual Instant now() const = 0;
  /// Seconds since the epoch, for people only.
  [[nodiscard]] virtual std::int64_t wall_seconds() const = 0;
};

/// Resource-free implementation on clock_gettime(2).
class SystemClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const override;
  [[nodiscard]] std::int64_t wall_seconds() const override;
};

}  // namespace kcg
