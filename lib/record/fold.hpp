// SPDX-License-Identifier: Apache-2.0
//
// How a pass changes what is remembered (L4), and what comes next.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "record/heals.hpp"
#include "record/record.hpp"

namespace kcg {

/// Value: what the reconciler should do next for this sandbox.
struct FollowUp {
  bool again = false;               ///< another round at once
  std::optional<Instant> retry_at;  ///< timer
  /// Before this the timer is only for threads that nothing names: a glance at the threads will do.
  /// nullopt: for nothing else.
  std::optional<Instant> look_at;
  /// All that was planned was done, and nothing made: then it is seen whether it holds. A glance
  /// will do for that.
  std::optional<Instant> confirm_at;
  bool forget = false;  ///< nothing is left of it: drop the record
};

/// Value: a record after a pass.
struct Folded {
  Record record;
  FollowUp follow_up;
  std::vector<Repair> repairs = {};
};

/// A pass has no more rounds; what moves on after them is left to the next one.
inline constexpr unsigned kRounds = 5;

/// `round` counts from 1 within a pass.
[[nodiscard]] Folded fold(const Record& before, const Observed& observed, const Desired& desired,
                          const Report& report, unsigned round, Instant now,
                          std::int64_t wall_seconds);

}  // namespace kcg
