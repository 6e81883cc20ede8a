// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/shortage.hpp"

#include <utility>

namespace kcg {

Shortage::Shortage(Loop& loop, TellHealth tell, std::string missed, Attempt attempt)
    : loop_(loop),
      tell_(std::move(tell)),
      missed_(std::move(missed)),
      attempt_(std::move(attempt)) {}

void Shortage::begin(const Error& why) {
  if (!holds_) tell_(why.text + "; " + missed_);
  holds_ = true;
  if (!timer_) arm();
}

void Shortage::again() {
  timer_ = Source();
  const auto done = attempt_();
  if (!done) return begin(done.error());
  holds_ = false;
  tell_("");
}

/// Without memory for a timer the next begin() arms one.
void Shortage::arm() {
  const auto now = clock_.now();
  auto timer = loop_.at(now + backoff_.failed(now), [this] { again(); });
  if (timer) timer_ = std::move(*timer);
}

}  // namespace kcg
