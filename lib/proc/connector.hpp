// SPDX-License-Identifier: Apache-2.0
//
// The kernel's process events (L4): netlink proc connector, without a loop. Source:
// drivers/connector/cn_proc.c, linux/cn_proc.h. A socket filter in the kernel drops all but execs,
// new threads and threads that name themselves: forks of processes and exits wake nobody.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "model/ids.hpp"

namespace kcg {

/// Value: one event.
struct ProcEvent {
  enum class Kind : std::uint8_t {
    listening,  ///< the kernel's answer to our request; `code` is an errno, 0 = events follow
    exec,       ///< `pid` executed a program
    thread,     ///< process `pid` has a new thread, or one of its threads named itself
  };
  Kind kind = Kind::exec;
  Pid pid = 0;
  int code = 0;
  bool operator==(const ProcEvent&) const = default;
};

/// Value: what one read gave.
struct ProcEvents {
  std::vector<ProcEvent> events;
  bool lost = false;  ///< the receive buffer overflowed before this
};

/// Resource: a listening socket.
class ProcConnector final {
 public:
  /// Sends the request; the answer is an event. It never comes where the kernel ignores us, that is
  /// outside the initial pid and user namespaces. EPERM: no CAP_NET_ADMIN. EPROTONOSUPPORT or
  /// ECONNREFUSED: not the initial network namespace, or a kernel without CONFIG_PROC_EVENTS.
  [[nodiscard]] static Result<ProcConnector> open();

  /// Ready for reading when there are events.
  [[nodiscard]] int fd() const { return fd_.get(); }
  /// At most 64 events; none when there are none. Never blocks.
  [[nodiscard]] Result<ProcEvents> read();

 private:
  explicit ProcConnector(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

/// Opens, waits for the kernel's answer and closes: for `doctor`. An error says why there is none.
[[nodiscard]] Status probe_connector(std::chrono::milliseconds patience);

}  // namespace kcg
