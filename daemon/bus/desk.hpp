// SPDX-License-Identifier: Apache-2.0
//
// Calls that concern the whole node (L9). They are worked on one at a time, in slices behind the
// placements, and the callers take turns: who asks often waits for himself.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "daemon/bus/callers.hpp"
#include "daemon/manager.hpp"

namespace kcg::bus {

/// Resource: see the head of the file.
class Desk final : public std::enable_shared_from_this<Desk> {
 public:
  /// Does a small part of the work; true: there is more. Must not throw.
  using Step = std::function<bool()>;

  explicit Desk(Manager& manager) : manager_(manager) {}
  /// ManagerError::limit_reached: nobody is to wait that long.
  [[nodiscard]] Status take(const std::string& caller, Callers::Ticket ticket, Step step);
  /// Nobody waits for his answers any more.
  void gone(const std::string& caller);

 private:
  /// Value: one call.
  struct Errand {
    std::string caller;
    Callers::Ticket ticket;
    Step step;
  };
  [[nodiscard]] bool slice();
  void next();

  Manager& manager_;
  std::map<std::string, std::deque<Errand>> waiting_;
  std::deque<std::string> turns_;  ///< callers that have something waiting
  std::optional<Errand> in_hand_;
  bool at_work_ = false;  ///< the manager calls slice()
};

}  // namespace kcg::bus
