// SPDX-License-Identifier: Apache-2.0
//
// What is remembered about systemd's answers to what it was asked for (L4).
#pragma once

#include <optional>
#include <string>

#include "record/record.hpp"

namespace kcg {

/// fold(): what is waited for, and how often systemd was asked in vain.
void count_scope_tries(Record& record, const Observed& observed, const Desired& desired,
                       const Report& report, Instant now);
/// fold(): ScopeFailed, where systemd has refused, or for some seconds could not be asked or has
/// not done what it was asked for. While it reloads or executes itself anew it takes as long, and
/// nothing is wrong.
[[nodiscard]] std::optional<Condition> scope_condition(const Record& record, const Desired& desired,
                                                       Instant now);
/// fold(): when to look at it again if nobody says anything.
[[nodiscard]] std::optional<Instant> scope_wake(const Record& record, const Observed& observed,
                                                Instant now);

/// What is still waited for. Whether its end was heard or not: a job whose scope exists is over,
/// and so are limits whose scope is gone.
[[nodiscard]] std::optional<PendingJob> open_job(const Observed& observed,
                                                 const std::optional<PendingJob>& pending);
/// systemd has answered, well or with a problem: the next look tells what has come of it.
void end_job(Record& record, const std::string& unit, const std::string& problem, Instant now);

}  // namespace kcg
