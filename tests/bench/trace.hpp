// SPDX-License-Identifier: Apache-2.0
//
// The kernel's own clock for the bench: tracepoints of exec, new tasks, KVM_RUN and cgroup attaches
// in a trace instance of our own. Nobody under test is slowed down by being looked at more often.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace kcg::bench {

using Micros = std::chrono::microseconds;

enum class EventKind { exec, new_task, kvm_run, attach };

/// Value: one tracepoint that fired.
struct Event {
  EventKind kind = EventKind::exec;
  Micros at{0};           ///< CLOCK_MONOTONIC
  int pid = 0;            ///< tid of the task
  int hierarchy = 0;      ///< attach: number as in /proc/<pid>/cgroup
  std::string path = {};  ///< attach
};

/// Lines that are none of ours give no event.
[[nodiscard]] std::vector<Event> parse_trace(std::string_view text);

/// Resource: a trace instance; throws when the kernel offers none.
class Trace final {
 public:
  /// `mebibytes` of events are kept, on all CPUs together; some on each.
  explicit Trace(unsigned mebibytes = 32);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  void clear() const;
  /// Throws where some were lost: who is missing would not be noticed.
  [[nodiscard]] std::vector<Event> events() const;

 private:
  std::string mount_;
  std::string instance_;
};

}  // namespace kcg::bench
