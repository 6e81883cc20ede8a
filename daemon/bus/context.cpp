// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/context.hpp"

#include <utility>

#include "daemon/bus/errors.hpp"

namespace kcg::bus {

const SandboxView* FreshView::of(Manager& manager, const std::string& id) {
  if (suspended_) return nullptr;
  if (!view_ || id_ != id) {
    view_ = or_throw(manager.view(id));
    id_ = id;
  }
  return &*view_;
}

void FreshView::forget() {
  view_.reset();
  suspended_ = false;
}

Replies::Done Replies::later(sdbus::Result<std::uint32_t>&& result) {
  const std::uint64_t ticket = next_++;
  waiting_.emplace(ticket, std::move(result));
  return [weak = weak_from_this(), ticket](const Result<std::uint32_t>& outcome) {
    if (const auto self = weak.lock()) self->answer(ticket, outcome);
  };
}

void Replies::answer(std::uint64_t ticket, const Result<std::uint32_t>& outcome) {
  auto node = waiting_.extract(ticket);
  if (node.empty()) return;
  try {
    if (outcome)
      node.mapped().returnResults(*outcome);
    else
      node.mapped().returnError(bus_error(outcome.error()));
  } catch (const sdbus::Error&) {
    // The connection is lost, and with it the caller: the pump finds out and says so.
  }
}

}  // namespace kcg::bus
