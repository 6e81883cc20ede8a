// SPDX-License-Identifier: Apache-2.0
//
// Processes that execute a program and threads that appear (L6). All of the node's events pass by
// here, so strangers are dropped at once: a lookup for threads, one read of stat for an exec.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>

#include "base/clock.hpp"
#include "daemon/loop.hpp"
#include "model/ids.hpp"
#include "proc/connector.hpp"
#include "proc/view.hpp"

namespace kcg {

/// Resource: HintKind::exec for shims, for watched processes and their children; HintKind::thread
/// for watched processes; HintKind::rescan after lost events. Without the kernel's proc connector
/// it looks through /proc once per second for execs, and knows nothing of threads.
class ProcessWatch final {
 public:
  [[nodiscard]] static std::unique_ptr<ProcessWatch> create(Loop& loop, ProcView& proc,
                                                            const Clock& clock, HintSink sink);

  void watch_process(Pid pid) { watched_.insert(pid); }
  void unwatch_process(Pid pid) { watched_.erase(pid); }
  /// Why the connector is not used, "" while it is (or may still answer).
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  ProcessWatch(Loop& loop, ProcView& proc, const Clock& clock, HintSink sink)
      : loop_(loop), proc_(proc), clock_(clock), sink_(std::move(sink)) {}
  [[nodiscard]] Status listen();
  [[nodiscard]] Status hear();
  void gather(Instant now);
  void on_events();
  void on_event(const ProcEvent& event);
  [[nodiscard]] bool interesting(const TaskStat& stat) const;
  void fall_back(std::string problem);
  void give_up();
  void scan();
  void arm(Instant when, void (ProcessWatch::*act)());

  Loop& loop_;
  ProcView& proc_;
  const Clock& clock_;
  HintSink sink_;
  std::unordered_set<Pid> watched_;
  std::optional<ProcConnector> connector_;
  bool listening_ = false;
  std::string problem_;
  std::map<TaskKey, std::string> seen_;  ///< fallback: interesting processes of the last scan
  Source events_;
  Source pause_;
  Instant woken_{0};
  Source timer_;
};

}  // namespace kcg
