// SPDX-License-Identifier: Apache-2.0
//
// What is remembered about a sandbox between passes (L3), and how a pass changes it. Nothing in
// here decides a placement: after a crash an empty record and the kernel give the same plan.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "model/observed.hpp"
#include "model/plan.hpp"
#include "plan/prove.hpp"

namespace kcg {

/// Value: a condition in force and since when (wall seconds).
struct ActiveCondition {
  Condition condition;
  std::int64_t since = 0;
  bool operator==(const ActiveCondition&) const = default;
};

/// Value: how often one thread or file was put back lately.
struct HealCount {
  std::vector<Instant> times;  ///< of the last 60 s
  Instant quiet_until{0};      ///< contested: not before this
  Instant delay{0};
  bool operator==(const HealCount&) const = default;
};

/// Value: see the head of the file.
struct Record {
  SandboxState state = SandboxState::discovered;
  std::optional<FixedLayout> fixed;
  bool watched = false;       ///< it was seen before its VMM started
  std::set<Trusted> trusted;  ///< identities proven in earlier passes
  History history;
  std::optional<PendingJob> pending;
  std::map<std::string, HealCount> heals;  ///< by "tid 123" or "group file"
  std::vector<ActiveCondition> conditions;
  unsigned removal_tries = 0;
  unsigned move_tries = 0;   ///< EINVAL: the task was still being created
  unsigned scope_tries = 0;  ///< how often systemd was asked for what it has not done yet
  Instant scope_asked{0};
  Instant scope_due{0};       ///< not asked again before
  std::string scope_problem;  ///< why it was not done, in systemd's words
  std::set<TaskKey> unnamed;  ///< VMM threads that nothing has named yet
  unsigned looks = 0;         ///< how often they were looked at again
  Instant looking_since{0};
  bool placed_once = false;
  std::optional<Instant> charge_due;  ///< v2: when to see where memory is charged; once
  bool charge_seen = false;
  std::int64_t created = 0;         ///< seconds since the epoch: start of VMM, else shim
  std::optional<Instant> ended;     ///< since when it is gone, as far as was seen
  std::set<Pid> shim_candidates;    ///< processes that call themselves its shim; to be proven
  std::set<GroupRef> found_groups;  ///< marked groups: of the last pass, or found at the start
  bool operator==(const Record&) const = default;
};

/// Value: what the reconciler should do next for this sandbox.
struct FollowUp {
  bool again = false;               ///< another round at once
  std::optional<Instant> retry_at;  ///< timer
  bool forget = false;              ///< nothing is left of it: drop the record
};

/// Value: a record after a pass.
struct Folded {
  Record record;
  FollowUp follow_up;
};

/// `round` counts from 1 within a pass; after 5 rounds with moves ThreadsUnsettled is raised.
[[nodiscard]] Folded fold(const Record& before, const Observed& observed, const Desired& desired,
                          const Report& report, unsigned round, Instant now,
                          std::int64_t wall_seconds);

/// A step that failed only because its task had ended, or its group was gone already.
[[nodiscard]] bool overtaken(const StepResult& result);

/// A removal that is tried again: members of the group are still dying.
[[nodiscard]] bool still_busy(const StepResult& result);

/// The plan without what is contested, or refused by systemd, and not due yet.
[[nodiscard]] Plan without_contested(const Plan& plan, const Record& record,
                                     const Observed& observed, Instant now);

/// systemd has answered, well or with a problem: the next look tells what has come of it.
void end_job(Record& record, const std::string& unit, const std::string& problem = {});

/// True if this pass shall look where the memory of the sandbox is charged.
[[nodiscard]] bool charge_wanted(const Record& record, Instant now);

/// True while a group may exist that the report's plan made and did not mark: our run directory has
/// to remember it.
[[nodiscard]] bool creation_open(const Report& report);

}  // namespace kcg
