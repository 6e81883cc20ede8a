// SPDX-License-Identifier: Apache-2.0
//
// A bus connection in the daemon's event loop (L9), without a thread of its own.
#pragma once

#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "daemon/bus/compat.hpp"

namespace kcg::bus {

/// Resource: hands the connection what arrives, one message per turn of the loop. Does it as
/// sd_bus_attach_event(3) does: what to wait for is asked for before each sleep, because sending
/// anywhere in the daemon can change it.
class Pump final {
 public:
  /// What the owner is told.
  struct Events {
    std::function<void()> handled;                        ///< after each message, not in hand now
    std::function<void(const std::string& reason)> lost;  ///< the connection is of no use any more
  };
  [[nodiscard]] static Result<std::unique_ptr<Pump>> start(sd_event* event,
                                                           sdbus::IConnection& connection,
                                                           sd_bus* bus, Events events);
  ~Pump();
  Pump(const Pump&) = delete;
  Pump& operator=(const Pump&) = delete;

  /// A message is in hand: whoever handles it runs further up the stack.
  [[nodiscard]] bool busy() const { return busy_; }

  /// Messages that may wait for a bus that does not read, beside the 8 MiB in its socket.
  static constexpr std::uint64_t kMostQueued = 4096;

 private:
  Pump(sdbus::IConnection& connection, sd_bus* bus, Events events);
  void check_queue();
  [[nodiscard]] int attach(sd_event* event);
  void prepare();
  void process();
  void lose(const std::string& reason);

  sdbus::IConnection& connection_;
  sd_bus* bus_;  ///< the same connection
  Events events_;
  sd_event_source* io_ = nullptr;
  sd_event_source* timer_ = nullptr;
  bool lost_ = false;
  bool busy_ = false;
};

}  // namespace kcg::bus
