// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/desk.hpp"

#include <chrono>
#include <utility>

#include "base/clock.hpp"

namespace kcg::bus {

namespace {

/// What a new sandbox may have to wait for at most, beside one step.
constexpr Instant kDeskSlice = std::chrono::milliseconds(2);

}  // namespace

Status Desk::take(const std::string& caller, Callers::Ticket ticket, Step step) {
  if (!at_work_) {
    // The session may end before the job does.
    auto taken = manager_.in_background([weak = weak_from_this()] {
      const auto self = weak.lock();
      return self != nullptr && self->slice();
    });
    if (!taken) return taken;
    at_work_ = true;
  }
  auto& theirs = waiting_[caller];
  if (theirs.empty()) turns_.push_back(caller);
  theirs.push_back({caller, std::move(ticket), std::move(step)});
  return {};
}

void Desk::gone(const std::string& caller) {
  if (in_hand_ && in_hand_->caller == caller) in_hand_.reset();
  if (waiting_.erase(caller) > 0) std::erase(turns_, caller);
}

void Desk::next() {
  if (turns_.empty()) return;
  const auto it = waiting_.find(turns_.front());
  turns_.pop_front();
  in_hand_ = std::move(it->second.front());
  it->second.pop_front();
  if (it->second.empty())
    waiting_.erase(it);
  else
    turns_.push_back(it->first);
}

bool Desk::slice() {
  const SystemClock clock;
  const auto until = clock.now() + kDeskSlice;
  do {
    if (!in_hand_) next();
    if (in_hand_ && !in_hand_->step()) in_hand_.reset();
  } while ((in_hand_ || !turns_.empty()) && clock.now() < until);
  at_work_ = in_hand_ || !turns_.empty();
  return at_work_;
}

}  // namespace kcg::bus
