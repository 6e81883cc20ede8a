// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/callers.hpp"

#include "daemon/manager.hpp"

namespace kcg::bus {

namespace {

constexpr int kLimit = static_cast<int>(ManagerError::limit_reached);

}  // namespace

Result<Callers::Ticket> Callers::enter(const std::string& caller) {
  if (all_ >= kAll)
    return fail(kLimit, "{} calls wait for their answers already: try again later", kAll);
  const auto known = each_.find(caller);
  if (known != each_.end() && known->second >= kEach)
    return fail(kLimit, "{} of your calls wait for their answers already: wait for one of them",
                kEach);
  ++each_[caller];
  ++all_;
  return Ticket(nullptr, [weak = weak_from_this(), caller](void*) {
    if (const auto self = weak.lock()) self->leave(caller);
  });
}

void Callers::leave(const std::string& caller) {
  --all_;
  const auto it = each_.find(caller);
  if (--it->second == 0) each_.erase(it);
}

}  // namespace kcg::bus
