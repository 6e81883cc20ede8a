// SPDX-License-Identifier: Apache-2.0
//
// The event loop (L9): a thin owner of sd_event. Callbacks are three lines: translate, hand over,
// return. All sources but signals have one priority and are served in turn, so that none that is
// always ready (a bus client, a storm of execs) keeps another one waiting; a callback does a
// bounded portion of its work and comes back.
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

/// Resource: see the head of the file. What one callback throws is told, and the others go on; more
/// than a FailureCount allows end run() with the last text, since a fresh start may do better: the
/// state of the world is in the kernel.
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
  /// Once, when everything that is ready now has been served once: hints of one turn become one
  /// pass. What is ready again and again does not keep it waiting.
  [[nodiscard]] Result<Source> soon(std::function<void()> act);
  /// Before everything else. The signal must be blocked already.
  [[nodiscard]] Result<Source> on_signal(int signal, std::function<void()> act);

  /// Whom exceptions are told. What it throws itself ends run().
  void on_failure(std::function<void(const std::string& what)> told);

  [[nodiscard]] Result<int> run();
  void exit(int code);
  [[nodiscard]] sd_event* get() const { return event_; }

 private:
  friend struct Source::Impl;
  explicit Loop(sd_event* event);
  sd_event* event_;
  Source first_timer_;
  struct Failures;
  std::shared_ptr<Failures> failures_;
};

}  // namespace kcg
