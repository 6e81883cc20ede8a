// SPDX-License-Identifier: Apache-2.0
//
// What the objects of one bus connection share (L6): the manager, views read afresh, and callers
// that wait for an answer.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "daemon/bus/compat.hpp"
#include "daemon/manager.hpp"

namespace kcg::bus {

/// Value: at most one observation of one sandbox per message, however many properties are asked
/// for. While suspended nothing is observed at all: whoever asks for all objects at once, and our
/// own signals, must not make the daemon read the whole node.
class FreshView final {
 public:
  /// nullptr while suspended. Throws sdbus::Error.
  [[nodiscard]] const SandboxView* of(Manager& manager, const std::string& id);
  /// For the rest of this message.
  void suspend() { suspended_ = true; }
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
  bool suspended_ = false;
};

/// Resource: calls that are answered later. It dies with its connection, because the library's
/// results must not outlive that; an answer that comes later still is dropped.
class Replies final : public std::enable_shared_from_this<Replies> {
 public:
  using Done = std::function<void(Result<std::uint32_t>)>;
  /// What the manager calls when the work has ended.
  [[nodiscard]] Done later(sdbus::Result<std::uint32_t>&& result);

 private:
  void answer(std::uint64_t ticket, const Result<std::uint32_t>& outcome);

  std::map<std::uint64_t, sdbus::Result<std::uint32_t>> waiting_;
  std::uint64_t next_ = 0;
};

/// Resource: see the head of the file.
struct Context {
  Manager& manager;
  FreshView fresh;
  std::shared_ptr<Replies> replies = std::make_shared<Replies>();
};

}  // namespace kcg::bus
