// SPDX-License-Identifier: Apache-2.0
//
// Time as a seam (L0): tests turn the hands themselves.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kcg {

/// Monotonic time since an arbitrary point (CLOCK_BOOTTIME in the real clock).
using Instant = std::chrono::microseconds;

/// A pause that doubles with each of `times` tries before, up to `most`.
[[nodiscard]] constexpr Instant doubled(Instant first, unsigned times, Instant most) {
  for (; times > 0 && first < most; --times) first *= 2;
  return first < most ? first : most;
}

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

/// "2024-05-06T07:08:09Z" of seconds since 1970; "" for a year that does not have four digits.
[[nodiscard]] std::string rfc3339(std::int64_t seconds);
/// What rfc3339() gave; nullopt for any other text.
[[nodiscard]] std::optional<std::int64_t> parse_rfc3339(std::string_view text);

}  // namespace kcg
