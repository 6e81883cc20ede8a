// SPDX-License-Identifier: Apache-2.0
//
// The event loop (L6): a thin owner of sd_event. Callbacks are three lines: translate, hand over,
// return.
#pragma once

#include <systemd/sd-event.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "model/hint.hpp"

namespace kcg {

/// Where watchers put their hints.
using HintSink = std::function<void(const Hint&)>;

/// Resource: one registration in the loop; ends with the object.
class Source final {
 public:
  Source() = default;
  Source(Source&&) noexcept = default;
  Source& operator=(Source&&) noexcept = default;
  ~Source() = default;
  explicit operator bool() const { return impl_ != nullptr; }
  struct Impl;
  explicit Source(std::unique_ptr<Impl> impl);

 private:
  struct Deleter {
    void operator()(Impl* impl) const;
  };
  std::unique_ptr<Impl, Deleter> impl_;
};

/// Resource: see the head of the file. An exception in a callback ends run() with its text.
class Loop final {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Loop>> create();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// `act(revents)` whenever the descriptor is ready; `events` as for epoll.
  [[nodiscard]] Result<Source> on_fd(int fd, std::uint32_t events,
                                     std::function<void(std::uint32_t)> act);
  /// Once, at a monotonic (CLOCK_BOOTTIME) instant.
  [[nodiscard]] Result<Source> at(Instant when, std::function<void()> act);
  /// Once, when nothing of higher priority is pending: hints of one turn become one pass.
  [[nodiscard]] Result<Source> when_idle(std::function<void()> act);
  /// The signal must be blocked already.
  [[nodiscard]] Result<Source> on_signal(int signal, std::function<void()> act);
  /// Feeds systemd's watchdog from the loop if the unit asks for it.
  [[nodiscard]] Status enable_watchdog();

  [[nodiscard]] Result<int> run();
  void exit(int code);
  [[nodiscard]] sd_event* get() const { return event_; }

 private:
  explicit Loop(sd_event* event) : event_(event) {}
  sd_event* event_;
  std::shared_ptr<std::string> failure_ = std::make_shared<std::string>();  ///< of a handler
};

}  // namespace kcg
