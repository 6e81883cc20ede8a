// SPDX-License-Identifier: Apache-2.0
//
// What the objects of one bus connection share (L9): the manager, views read afresh, and callers
// that wait for an answer.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "daemon/bus/callers.hpp"
#include "daemon/bus/compat.hpp"
#include "daemon/bus/desk.hpp"
#include "daemon/bus/identity.hpp"
#include "daemon/manager.hpp"

namespace kcg::bus {

/// Value: at most one observation of one sandbox per message, however many properties are asked
/// for, and of one that has cost much for a while: who asks again and again gets a bounded share of
/// the loop. While suspended nothing is observed at all: our own signals must not make the daemon
/// read the node.
class FreshView final {
 public:
  /// nullptr while suspended. Throws sdbus::Error.
  [[nodiscard]] const SandboxView* of(Manager& manager, const std::string& id);
  /// The message has been handled.
  void forget();

  /// Suspends for a scope.
  class Suspension final {
   public:
    explicit Suspension(FreshView& view) : view_(view), before_(view.suspended_) {
      view_.suspended_ = true;
    }
    ~Suspension() { view_.suspended_ = before_; }
    Suspension(const Suspension&) = delete;
    Suspension& operator=(const Suspension&) = delete;

   private:
    FreshView& view_;
    bool before_;
  };

 private:
  std::optional<SandboxView> view_;
  std::string id_;
  bool of_this_message_ = false;
  Instant good_until_{0};  ///< until then the view serves other messages, too
  bool suspended_ = false;
};

/// Resource: calls that are answered later. It dies with its connection, because the library's
/// results must not outlive that; an answer that comes later still is dropped.
class Replies final : public std::enable_shared_from_this<Replies> {
 public:
  using Done = std::function<void(Result<std::uint32_t>)>;
  /// What the manager calls when the work has ended.
  [[nodiscard]] Done later(sdbus::Result<std::uint32_t>&& result, Callers::Ticket ticket);

 private:
  void answer(std::uint64_t number, const Result<std::uint32_t>& outcome);

  struct Waiting {
    sdbus::Result<std::uint32_t> result;
    Callers::Ticket ticket;
  };
  std::map<std::uint64_t, Waiting> waiting_;
  std::uint64_t next_ = 0;
};

/// Resource: see the head of the file.
struct Context {
  explicit Context(Manager& the_manager)
      : manager(the_manager), desk(std::make_shared<Desk>(the_manager)) {}

  Manager& manager;
  FreshView fresh;
  std::uint64_t revisions = 0;  ///< of all objects' views
  std::shared_ptr<Callers> callers = std::make_shared<Callers>();
  std::shared_ptr<Replies> replies = std::make_shared<Replies>();
  std::shared_ptr<Desk> desk;
  std::optional<Identity> identity;  ///< as soon as there is an object to reach the bus through
};

}  // namespace kcg::bus
