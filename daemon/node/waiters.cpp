// SPDX-License-Identifier: Apache-2.0
#include "daemon/node/waiters.hpp"

#include <algorithm>
#include <utility>

namespace kcg {

void Waiters::add(std::set<SandboxId> ids, Done done) {
  if (ids.empty()) return done(0U);
  waiting_.push_back({std::move(ids), 0, std::nullopt, {}, std::move(done)});
}

bool Waiters::waits_for(const SandboxId& id) const {
  return std::any_of(waiting_.begin(), waiting_.end(),
                     [&](const Waiter& waiter) { return waiter.left.contains(id); });
}

void Waiters::passed(const SandboxId& id, std::uint32_t steps, const std::optional<Error>& failure,
                     bool open) {
  std::vector<Waiter> answered;
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    if (it->left.contains(id)) {
      it->steps += steps;
      if (failure && !it->failure)
        it->failure =
            Error{failure->code, fmt::format("sandbox '{}': {}", id.str(), failure->text)};
      if (failure) it->failed.insert(id);
      if (!open) it->left.erase(id);
    }
    if (!it->left.empty()) {
      ++it;
      continue;
    }
    answered.push_back(std::move(*it));
    it = waiting_.erase(it);
  }
  for (auto& waiter : answered) answer(waiter);  // who is answered may ask again
}

void Waiters::answer(Waiter& waiter) {
  if (!waiter.failure) return waiter.done(waiter.steps);
  std::string more;
  if (waiter.failed.size() > 1)
    more = fmt::format(" (and {} sandboxes more)", waiter.failed.size() - 1);
  waiter.done(fail(waiter.failure->code, "{}{}; {} steps were done", waiter.failure->text, more,
                   waiter.steps));
}

}  // namespace kcg
