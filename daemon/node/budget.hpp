// SPDX-License-Identifier: Apache-2.0
//
// What looking at one sandbox may cost (L9, pure). A guest can make its VMM start, end and rename
// threads as often as it likes: each of that is a hint. What its passes cost delays its own next
// pass, so that it gets a bounded share of a CPU, and a quiet sandbox is still looked at at once.
#pragma once

#include "base/clock.hpp"

namespace kcg {

/// Value: see the head of the file. Costs are CPU time, not time that passed: a pass that waited
/// for the kernel or for its turn on the CPU took nothing from anybody.
class Budget final {
 public:
  /// Lasting share of one CPU: one part in so many.
  static constexpr int kShare = 20;
  /// What may be spent at once: the start of a real pod costs up to 265 ms.
  static constexpr Instant kReserve = std::chrono::milliseconds(300);
  /// A pass that cost more is followed by a rest of twice as long: nobody who needs several passes
  /// meanwhile waits for more than one of these. Placement does not rest.
  static constexpr Instant kLong = std::chrono::milliseconds(50);

  void charge(Instant cost, Instant now);
  /// When the next pass may begin; `reserves`: how often the reserve may be used up before.
  [[nodiscard]] Instant allowed(Instant now, int reserves = 1) const;

 private:
  Instant paid_{0};    ///< when all that was spent has been earned
  Instant rested_{0};  ///< after a long one
};

}  // namespace kcg
