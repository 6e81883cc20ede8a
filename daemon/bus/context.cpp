// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/context.hpp"

#include <utility>

#include "daemon/bus/errors.hpp"
#include "daemon/node/cpu_time.hpp"

namespace kcg::bus {

namespace {

/// How many times as long as a look took nobody looks again: one of a millisecond is old after
/// four.
constexpr int kRest = 4;

}  // namespace

const SandboxView* FreshView::of(Manager& manager, const std::string& id) {
  if (suspended_) return nullptr;
  const bool good = of_this_message_ || SystemClock().now() < good_until_;
  if (!view_ || id_ != id || !good) {
    view_.reset();
    const auto before = thread_cpu_time();
    view_ = or_throw(manager.view(id));
    id_ = id;
    good_until_ = SystemClock().now() + (thread_cpu_time() - before) * kRest;
  }
  of_this_message_ = true;
  return &*view_;
}

void FreshView::forget() {
  of_this_message_ = false;
  if (view_ && SystemClock().now() >= good_until_) view_.reset();
}

Replies::Done Replies::later(sdbus::Result<std::uint32_t>&& result, Callers::Ticket ticket) {
  const std::uint64_t number = next_++;
  waiting_.emplace(number, Waiting{std::move(result), std::move(ticket)});
  return [weak = weak_from_this(), number](const Result<std::uint32_t>& outcome) {
    if (const auto self = weak.lock()) self->answer(number, outcome);
  };
}

void Replies::answer(std::uint64_t number, const Result<std::uint32_t>& outcome) {
  auto node = waiting_.extract(number);
  if (node.empty()) return;
  try {
    if (outcome)
      node.mapped().result.returnResults(*outcome);
    else
      node.mapped().result.returnError(bus_error(outcome.error()));
  } catch (const sdbus::Error&) {
    // The connection is lost, and with it the caller: the pump finds out and says so.
  }
}

}  // namespace kcg::bus
