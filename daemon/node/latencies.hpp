// SPDX-License-Identifier: Apache-2.0
//
// How long something took, over all times that it was done (L9, pure). Of bounded size: what is
// told is at most 3.2 % too long.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/clock.hpp"
#include "measure/histogram.hpp"

namespace kcg {

/// Value: what people are told of them; the times are 0 where nothing was counted.
struct LatencyFacts {
  std::uint64_t count = 0;
  Instant half{0};         ///< half of them took no longer
  Instant ninety_nine{0};  ///< 99 of 100 took no longer
  Instant sum{0};
  /// How many took no longer than these times, 1 ms to 10 s.
  std::map<Instant, std::uint64_t> within = {};
  bool operator==(const LatencyFacts&) const = default;
};

/// Value: see the head of the file.
class Latencies final {
 public:
  void add(Instant took);
  [[nodiscard]] LatencyFacts facts() const;

 private:
  [[nodiscard]] std::map<Instant, std::uint64_t> within() const;

  Histogram took_;  ///< microseconds
  Instant sum_{0};
};

/// When a thread was placed, how long after its birth. The kernel tells its birth in hundredths of
/// a second, at or before it: `born`. When it, or anything about its sandbox, was heard of first is
/// known better, where it is known.
[[nodiscard]] Instant placed_after(Instant born, std::optional<Instant> heard, Instant now);

}  // namespace kcg
