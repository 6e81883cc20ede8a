// SPDX-License-Identifier: Apache-2.0
//
// Events that a source loses (L6, internal to watch/).
#pragma once

#include "daemon/health.hpp"
#include "daemon/loop.hpp"

namespace kcg {

/// Resource: a lost event now and then is repaired by a full look and no news. That they go on
/// being lost is told, and so is that they have ceased.
class Losses final {
 public:
  static constexpr int kMost = 3;  ///< without so quiet a time between them
  static constexpr Instant kQuiet = std::chrono::seconds(30);

  Losses(Loop& loop, TellHealth tell, Instant quiet = kQuiet)
      : loop_(loop), tell_(std::move(tell)), quiet_(quiet) {}

  void one();

 private:
  void end();

  Loop& loop_;
  TellHealth tell_;
  Instant quiet_;
  SystemClock clock_;
  int count_ = 0;
  Source timer_;
};

}  // namespace kcg
