// SPDX-License-Identifier: Apache-2.0
//
// From the scheduler to the loop (L9): wakes when something is due, and takes turns for a slice of
// time, so that the loop stays awake for new events.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "base/clock.hpp"
#include "daemon/log.hpp"
#include "daemon/loop.hpp"
#include "daemon/node/scheduler.hpp"
#include "daemon/node/timer.hpp"

namespace kcg {

/// Resource: see the head of the file. Loop, clock, log and scheduler outlive it.
class Turns final {
 public:
  Turns(Loop& loop, const Clock& clock, const Log& log, Scheduler& scheduler)
      : loop_(loop), clock_(clock), log_(log), scheduler_(scheduler) {}

  /// Who looks at a sandbox when it is its turn.
  void set_look(std::function<void(const SandboxId&, Due)> look) { look_ = std::move(look); }
  /// Something may be due now: the loop wakes us at once, or when the first timer runs out.
  void arm();
  /// What it returns is good for cancel().
  Timer after(Instant when, std::function<void()> act);
  /// It need not wake anybody any more. One that has run out, or was cancelled, is none.
  void cancel(const Timer& timer) { timers_.erase(timer); }
  /// What throws in here is told and over, and what comes after it is not.
  void guarded(const char* what, const std::function<void()>& act) const;

 private:
  void work();
  void take(const Turn& turn);
  void run_timers();

  Loop& loop_;
  const Clock& clock_;
  const Log& log_;
  Scheduler& scheduler_;
  std::function<void(const SandboxId&, Due)> look_;
  std::map<Timer, std::function<void()>>
      timers_;  ///< sandboxes have most of theirs in the scheduler
  std::uint64_t timers_made_ = 0;
  Source soon_;
  Source timer_;
  std::optional<Instant> timer_at_;
};

}  // namespace kcg
