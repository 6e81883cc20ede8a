// SPDX-License-Identifier: Apache-2.0
//
// From the scheduler to the loop (L8): wakes when something is due, and takes turns for a slice of
// time, so that the loop stays awake for new events.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "base/clock.hpp"
#include "daemon/log.hpp"
#include "daemon/loop.hpp"
#include "daemon/node/scheduler.hpp"

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
  void after(Instant when, std::function<void()> act);
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
  std::multimap<Instant, std::function<void()>>
      timers_;  ///< sandboxes have theirs in the scheduler
  Source soon_;
  Source timer_;
  std::optional<Instant> timer_at_;
};

}  // namespace kcg
