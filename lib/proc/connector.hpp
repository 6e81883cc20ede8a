// SPDX-License-Identifier: Apache-2.0
//
// The kernel's process events (L5): netlink proc connector, without a loop. Source:
// drivers/connector/cn_proc.c, linux/cn_proc.h. A socket filter in the kernel drops all but execs,
// new threads and threads that name themselves: forks of processes and exits wake nobody.
#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "base/result.hpp"
#include "model/ids.hpp"
#include "proc/datagrams.hpp"

namespace kcg {

/// Value: one event.
struct ProcEvent {
  enum class Kind : std::uint8_t {
    listening,  ///< the kernel's answer to our request; `code` is an errno, 0 = events follow
    exec,       ///< `pid` executed a program
    thread,     ///< process `pid` has a new thread `tid`, or its thread `tid` named itself
  };
  Kind kind = Kind::exec;
  Pid pid = 0;
  int code = 0;
  Instant at{0};  ///< when it happened, rather too late than too early
  Pid tid = 0;
  bool operator==(const ProcEvent&) const = default;
};

/// Value: what one read gave.
struct ProcEvents {
  std::vector<ProcEvent> events;
  /// The receive buffer overflowed: events before this are missing, and those that it still held
  /// were thrown away. Whatever happens from here on is heard.
  bool lost = false;
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
  /// At most kBatch events, or lost; none when there are none. Never blocks.
  [[nodiscard]] Result<ProcEvents> read();
  static constexpr std::size_t kBatch = kMostDatagrams;

  /// From now on the kernel drops thread events of all but these processes, at the cost of whoever
  /// causes them. E2BIG: more than kMostHeard, nothing has changed.
  [[nodiscard]] Status hear_threads_of(const std::vector<Pid>& pids);
  [[nodiscard]] Status hear_all_threads();
  static constexpr std::size_t kMostHeard = 2000;

 private:
  explicit ProcConnector(Fd fd) : fd_(std::move(fd)) {}
  /// How many messages there were, at most kBatch; `events` gets what they say.
  [[nodiscard]] Result<std::size_t> receive(std::vector<ProcEvent>& events);
  Fd fd_;
};

/// Opens, waits for the kernel's answer and closes: for `doctor`. An error says why there is none.
[[nodiscard]] Status probe_connector(std::chrono::milliseconds patience);

}  // namespace kcg
