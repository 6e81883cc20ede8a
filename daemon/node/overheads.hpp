// SPDX-License-Identifier: Apache-2.0
//
// What ended sandboxes have used beside their guests (L9), in memory and, some seconds later, in
// the state directory, so that it outlives daemon and boot. If it cannot be written, that is told
// once and the work goes on.
#pragma once

#include "base/clock.hpp"
#include "daemon/log.hpp"
#include "daemon/node/turns.hpp"
#include "daemon/state_store.hpp"
#include "measure/survey.hpp"

namespace kcg {

/// Resource: see the head of the file. All that it is given outlives it.
class Overheads final {
 public:
  Overheads(StateStore& store, const Clock& clock, Log& log, Turns& turns)
      : store_(store), clock_(clock), log_(log), turns_(turns) {}
  ~Overheads();
  Overheads(const Overheads&) = delete;
  Overheads& operator=(const Overheads&) = delete;

  /// What earlier daemons have kept.
  void restore() { survey_ = store_.survey(); }
  /// This sandbox has ended; once for each.
  void count(const SandboxHistory& history);

  [[nodiscard]] const Survey& survey() const { return survey_; }

 private:
  void write();

  StateStore& store_;
  const Clock& clock_;
  Log& log_;
  Turns& turns_;
  Survey survey_;
  bool waits_ = false;    ///< to be written
  bool failing_ = false;  ///< it could not be written, and that was told
};

}  // namespace kcg
