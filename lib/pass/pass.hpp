// SPDX-License-Identifier: Apache-2.0
//
// One sandbox, once along the line (L7): observe, desired, diff, apply, fold, until nothing is left
// to do. The daemon, cgctl without a daemon, and every property, fault and race test call this one.
// Whatever fails in it fails here: the sandbox gets PassFailed and a later try, nobody else
// notices.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/clock.hpp"
#include "cgroup/systemd_manager.hpp"
#include "cgroup/tree.hpp"
#include "model/config.hpp"
#include "observe/sandbox.hpp"
#include "proc/view.hpp"
#include "record/fold.hpp"
#include "record/record.hpp"

namespace kcg {

/// Interface: what must be noted outside the kernel before groups are made, because a crash may
/// leave one without its mark (docs/decisions/creation-intent.md).
class CreationNotes {
 public:
  virtual ~CreationNotes() = default;
  [[nodiscard]] virtual Status note_creation(const SandboxId& id) = 0;
  [[nodiscard]] virtual bool creation_noted(const SandboxId& id) const = 0;
  virtual void forget_creation(const SandboxId& id) = 0;
};

/// Value: the parts of the world that a pass works on; `systemd` may be null.
struct PassWorld {
  CgroupTree& tree;
  ProcView& proc;
  const Clock& clock;
  SystemdManager* systemd;
  CreationNotes& notes;
};

/// Value: how far a pass has come that is made in several turns.
struct PassProgress {
  unsigned rounds = 0;  ///< made to their end
  unsigned breaks = 0;  ///< broken off in the midst of their steps
  Instant reading{0};   ///< spent with reading ahead for the next round
};

/// Value: what a pass has to know beside the record. In observe mode it writes nothing.
struct PassOrder {
  const Config& config;
  const Assembled& assembled;
  std::optional<std::uint64_t> managed_since;  ///< see ObserveContext
  PassProgress so_far{};                       ///< of an unfinished pass
  unsigned failures = 0;                       ///< passes before this one that failed, in a row
  OverheadMeasured measured{};                 ///< what its overhead was last
  std::optional<NearLimit> near_limit = std::nullopt;  ///< its memory, as measured last
  Told told{};                                         ///< see ObserveContext
  const Observed* last = nullptr;                      ///< likewise
  bool groups_hold = false;                            ///< likewise, for the first look
  bool around_told = false;                            ///< likewise
  const ThreadsRead* threads = nullptr;                ///< likewise, for the first look
  /// Where all that was planned is done: how much later it is seen whether it holds, if nothing
  /// asks for a look before. nullopt: at once, by another look.
  std::optional<Instant> confirm_after = std::nullopt;
  /// How long it may take before it breaks off between two operations, to be called again.
  Instant slice = Instant::max();
  /// Before each look: what was said by then, the echo of our own writes too, is seen by it.
  std::function<void()> about_to_look = {};
};

/// Value: one look and what was done about it.
struct Round {
  Observed observed;
  Desired want;
  Plan between;  ///< the two, whether it is to be done or not
  Plan plan;     ///< what is to be done
  Report report;
  std::optional<Error> not_noted;    ///< CreationNotes failed: said once, and the work goes on
  std::vector<Repair> repairs = {};  ///< what somebody had undone
  bool was_placed = false;           ///< its VMM and all: before this round
  bool is_placed = false;            ///< after it
  bool groups_read = true;           ///< false: all were taken as an earlier look saw them
};

/// Value: what a pass has come to.
struct PassResult {
  std::optional<Round> last;  ///< nullopt: it failed
  FollowUp follow_up;
  std::uint32_t steps = 0;           ///< done
  std::optional<Error> failed_step;  ///< the first that failed and counts as a failure
  PassProgress so_far{};
  bool unfinished = false;  ///< the slice was over first: to be called again with `so_far`
};

/// A look without consequences.
[[nodiscard]] Round look(const PassWorld& world, const PassOrder& order, const Record& record);

/// `told` hears of every round.
[[nodiscard]] PassResult run_pass(const PassWorld& world, const PassOrder& order, Record& record,
                                  const std::function<void(const Round&)>& told = {});

}  // namespace kcg
