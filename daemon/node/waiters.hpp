// SPDX-License-Identifier: Apache-2.0
//
// Who waits until sandboxes have been looked at (L9, pure): the callers of Reconcile. Everybody is
// answered once, also when what he waits for is forgotten meanwhile.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "base/result.hpp"
#include "model/ids.hpp"

namespace kcg {

/// Resource: see the head of the file.
class Waiters final {
 public:
  /// The number of steps done; or the first failure.
  using Done = std::function<void(Result<std::uint32_t>)>;

  /// `done` is called at once if there is nothing to wait for.
  void add(std::set<SandboxId> ids, Done done);
  /// Somebody waits for this one.
  [[nodiscard]] bool waits_for(const SandboxId& id) const;
  /// A pass of this sandbox has done so many steps. `open`: there is more to come (systemd has not
  /// answered, the pass goes on), so whoever waits goes on waiting.
  void passed(const SandboxId& id, std::uint32_t steps, const std::optional<Error>& failure,
              bool open);
  /// Nothing is left of it.
  void forget(const SandboxId& id) { passed(id, 0, std::nullopt, false); }
  [[nodiscard]] std::size_t size() const { return waiting_.size(); }

 private:
  struct Waiter {
    std::set<SandboxId> left;
    std::uint32_t steps = 0;
    std::optional<Error> failure;  ///< the first
    std::set<SandboxId> failed;
    Done done;
  };
  static void answer(Waiter& waiter);

  std::vector<Waiter> waiting_;
};

}  // namespace kcg
