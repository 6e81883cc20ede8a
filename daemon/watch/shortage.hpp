// SPDX-License-Identifier: Apache-2.0
//
// A kernel that has no room for one watch, descriptor or page more (L6, internal to watch/).
#pragma once

#include <functional>
#include <string>

#include "base/result.hpp"
#include "daemon/health.hpp"
#include "daemon/loop.hpp"
#include "daemon/watch/backoff.hpp"

namespace kcg {

/// Resource: what a source does about something it could not get. It is told once, tried again by a
/// timer, later and later, and told again when it has worked. Everything else goes on meanwhile.
class Shortage final {
 public:
  /// An error: what still cannot be had.
  using Attempt = std::function<Status()>;

  /// `missed` says what is lost meanwhile, and how it is found nevertheless.
  Shortage(Loop& loop, TellHealth tell, std::string missed, Attempt attempt);

  /// Something could not be had just now.
  void begin(const Error& why);
  [[nodiscard]] bool holds() const { return holds_; }

  static constexpr Instant kFirstPause = std::chrono::milliseconds(500);
  static constexpr Instant kLastPause = std::chrono::minutes(1);

 private:
  void again();
  void arm();

  Loop& loop_;
  TellHealth tell_;
  std::string missed_;
  Attempt attempt_;
  SystemClock clock_;
  Backoff backoff_{kFirstPause, kLastPause};
  bool holds_ = false;
  Source timer_;
};

}  // namespace kcg
