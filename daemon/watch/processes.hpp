// SPDX-License-Identifier: Apache-2.0
//
// Processes that execute a program and threads that appear (L9). All of the node's events pass by
// here, so strangers are dropped at once: a lookup for threads, a question to the kernel for all
// that execute together; and in a flood the kernel drops them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "daemon/health.hpp"
#include "daemon/loop.hpp"
#include "daemon/watch/backoff.hpp"
#include "daemon/watch/flood.hpp"
#include "daemon/watch/paced_fd.hpp"
#include "model/ids.hpp"
#include "proc/connector.hpp"
#include "proc/view.hpp"

namespace kcg {

/// Resource: HintKind::exec for shims, for watched processes and their children; HintKind::thread
/// for watched processes; each once per turn of the loop. HintKind::rescan after lost events.
/// Without the kernel's proc connector it looks through /proc once per second for execs, and knows
/// nothing of threads; the connector is tried again, later and later.
class ProcessWatch final {
 public:
  ProcessWatch(Loop& loop, ProcView& proc, HintSink sink, TellHealth tell);
  ProcessWatch(const ProcessWatch&) = delete;
  ProcessWatch& operator=(const ProcessWatch&) = delete;
  ~ProcessWatch() = default;

  void watch_process(Pid pid);
  void unwatch_process(Pid pid) { watched_.erase(pid); }
  /// The kernel has answered and sends events.
  [[nodiscard]] bool listening() const { return listening_; }
  /// Events that were handled so far, for tests of what a flood costs.
  [[nodiscard]] std::size_t handled() const { return handled_; }

  static constexpr Instant kFirstPause = std::chrono::seconds(1);
  static constexpr Instant kLastPause = std::chrono::minutes(5);
  /// Processes that are looked at in one turn of the loop.
  static constexpr std::size_t kSlice = 256;

 private:
  void listen();
  [[nodiscard]] Heard on_events();
  [[nodiscard]] Heard read_events(std::vector<ProcEvent>& events);
  /// Whether it concerns somebody.
  bool pass_on(const std::vector<ProcEvent>& events);
  bool on_execs(const std::vector<Pid>& pids);
  void on_answer(int code);
  [[nodiscard]] bool interesting(Pid pid, const TaskName& name) const;
  void fall_back(const std::string& problem);
  void on_silence();
  // a flood
  void tighten();
  void hear_few();
  void loosen();
  // without the connector
  void scan();
  void scan_some();
  void arm(Source& timer, Instant pause, void (ProcessWatch::*act)());

  Loop& loop_;
  ProcView& proc_;
  SystemClock clock_;
  HintSink sink_;
  TellHealth tell_;
  std::unordered_set<Pid> watched_;
  std::optional<ProcConnector> connector_;
  PacedFd paced_;
  bool listening_ = false;
  bool fallen_ = false;  ///< /proc is looked through meanwhile
  Backoff backoff_{kFirstPause, kLastPause};
  Source patience_;  ///< for the kernel's answer, then for the next try
  std::size_t handled_ = 0;

  FloodCount flood_;
  std::set<Pid> muted_;  ///< watched, and not heard
  Source tight_;         ///< as long as only watched processes are heard

  std::map<TaskKey, std::string> seen_;   ///< interesting processes of the last scan
  std::map<TaskKey, std::string> found_;  ///< of this one, so far
  std::vector<Pid> unscanned_;
  Source scan_;
};

}  // namespace kcg
