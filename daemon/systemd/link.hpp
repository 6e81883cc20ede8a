// SPDX-License-Identifier: Apache-2.0
//
// The connection to systemd's manager (L9), apart from the one on which we serve. Nothing in here
// waits: connecting, subscribing, matches and calls are answered from the loop, which is why it is
// sd-bus and not sdbus-c++ (docs/decisions/systemd-link.md). A lost bus is tried again for ever; a
// manager that leaves the bus to execute itself again is greeted when it is back.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "daemon/loop.hpp"
#include "daemon/systemd/sd_bus.hpp"

namespace kcg::systemd {

inline constexpr const char* kService = "org.freedesktop.systemd1";
inline constexpr const char* kManagerPath = "/org/freedesktop/systemd1";
inline constexpr const char* kManager = "org.freedesktop.systemd1.Manager";

/// As long as the bus library's own default; a manager that is busy reloading takes seconds.
inline constexpr std::chrono::microseconds kPatience = std::chrono::seconds(25);

/// Value: an error as the bus tells it.
struct BusError {
  std::string name, text;
  bool late = false;  ///< nobody went away, it took too long
  /// The peer, or the bus, went away before it answered: whether it did anything is not known.
  [[nodiscard]] bool unanswered() const;
  [[nodiscard]] std::string str() const { return name + ": " + text; }
};

/// Value: a job that systemd has ended.
struct JobEnd {
  std::string job;     ///< object path
  std::string unit;    ///< "kata-sandbox-x.scope"
  std::string result;  ///< "done", "failed", "canceled", "timeout", "dependency", "skipped"
};

using Answer = tl::expected<sd_bus_message*, BusError>;
using OnAnswer = std::function<void(const Answer&)>;

/// Resource: see the head of the file.
class Link final {
 public:
  /// What the owner is told, from the loop.
  struct Events {
    std::function<void()> ready;  ///< for the first time, and whenever it is back
    std::function<void()> left;   ///< no more answers come to what was asked
    std::function<void(const JobEnd&)> job_ended;
    std::function<void(bool problem, const std::string& text)> log;
  };

  /// `address` is "system" or a D-Bus address. Never fails: what cannot be reached is tried again.
  Link(Loop& loop, std::string address, std::chrono::microseconds patience, Events events);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  /// False: there is no bus, or no systemd on it. True also before the first answer has come.
  [[nodiscard]] bool up() const { return state_ != State::absent; }
  /// The manager answers and tells of its jobs.
  [[nodiscard]] bool ready() const { return state_ == State::ready; }
  /// Why it is not up.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  /// "257" of "257.13-1~deb13u1"; 0: unknown.
  [[nodiscard]] unsigned version() const { return version_; }

  [[nodiscard]] Result<MessagePtr> new_call(const std::string& path, const char* interface,
                                            const char* member);
  /// Asks; `act` is called once, also when no answer comes in time, unless the slot is dropped.
  [[nodiscard]] Result<SlotPtr> call(const MessagePtr& message, OnAnswer act);

 private:
  enum class State : std::uint8_t { absent, greeting, ready };
  struct Waiting;
  template <void (Link::*Handle)(sd_bus_message*)>
  static int on_message(sd_bus_message* message, void* self, sd_bus_error*);
  template <class Act>
  void guarded(Act&& act);

  [[nodiscard]] Status open();
  [[nodiscard]] Status attach();
  [[nodiscard]] int connect();
  [[nodiscard]] int watch();
  void greet();
  void greeted(const Answer& answer);
  void know_version(const Answer& answer);
  void job_removed(sd_bus_message* message);
  void owner_changed(sd_bus_message* message);
  void disconnected(sd_bus_message* message);
  void absent(const std::string& reason);
  void lose(const std::string& reason);
  void retry_later();
  void retry();

  Loop& loop_;
  std::string address_;
  std::chrono::microseconds patience_;
  Events events_;
  BusPtr bus_;
  std::vector<SlotPtr> matches_;
  std::vector<SlotPtr> greeting_;
  std::string manager_;  ///< its unique name: nobody else speaks for it
  bool dead_ = false;    ///< the connection is of no use any more; the timer replaces it
  State state_ = State::absent;
  bool told_ = false;  ///< the log knows that it is not ready
  std::string reason_;
  unsigned version_ = 0;
  Instant delay_;
  Source timer_;
};

}  // namespace kcg::systemd
