// SPDX-License-Identifier: Apache-2.0
//
// What the service manager is told (sd_notify(3)), and never waited for (L9). libsystemd's own call
// waits for ever where the manager has stopped to read, and with it every pod that starts: a
// manager that froze is bad enough.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "daemon/loop.hpp"

namespace kcg {

/// Resource: see the head of the file. Tells nobody where the environment names no socket.
class Notifier final {
 public:
  explicit Notifier(Loop& loop, Instant pause = std::chrono::seconds(1))
      : loop_(loop), pause_(pause) {}
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  /// "READY" "1". What cannot be sent now is sent later: of each key the last value.
  void tell(const std::string& key, const std::string& value);
  /// From the loop, twice in the time after which the unit takes the daemon for hung.
  void feed_watchdog();

 private:
  void send();

  Loop& loop_;
  Instant pause_;
  std::map<std::string, std::string> untold_;
  Source retry_;
  Source watchdog_;
};

}  // namespace kcg
