// SPDX-License-Identifier: Apache-2.0
//
// Scopes that systemd makes for us (L3, internal to plan/): the step that asks for one, and what is
// remembered about systemd's answers.
#pragma once

#include <optional>

#include "plan/record.hpp"

namespace kcg {

/// A scope that does not exist yet: everything else waits for it. nullptr: there is none.
[[nodiscard]] const WantedGroup* missing_scope(const Observed& observed, const Desired& desired);
/// With all limits, so that no process is in it without them.
[[nodiscard]] Step start_scope_step(const WantedGroup& scope, const Desired& desired);

/// True while the scope itself is being made: nothing else can be done.
[[nodiscard]] bool waits_for_scope(const std::optional<PendingJob>& pending);
/// True when the group is made by systemd and holds a proven process of the sandbox: it was made on
/// our request, whatever became of our knowledge of it.
[[nodiscard]] bool scope_holds_us(const Observed& observed, const WantedGroup& group);

/// systemd removes an ended scope, ours or Kata's, with all that is below it. If somebody else
/// removes a part meanwhile, it gives up. It also tries only once, and cannot see who is still
/// dying in threaded groups: what is left of ours after some seconds is ours to remove.
[[nodiscard]] bool left_to_systemd(const Observed& observed, const GroupRef& group);

/// fold(): what is waited for, and how often systemd was asked in vain.
void count_scope_tries(Record& record, const Observed& observed, const Desired& desired,
                       const Report& report, Instant now);
/// fold(): ScopeFailed for what was asked in earlier passes.
[[nodiscard]] std::optional<Condition> scope_condition(const Record& record, const Desired& desired,
                                                       const Report& report);
/// fold(): when to look at it again if nobody says anything.
[[nodiscard]] std::optional<Instant> scope_wake(const Record& record, const Observed& observed,
                                                Instant now);

}  // namespace kcg
