// SPDX-License-Identifier: Apache-2.0
//
// What we wrote and somebody else undid (L4). Compared is always with what we last wrote: a first
// write is no repair, and neither is a value that we want to change ourselves.
// Somebody who undoes the same thing again and again is not fought in a loop: it is left alone for
// growing times.
#pragma once

#include <optional>
#include <vector>

#include "model/repair.hpp"
#include "record/record.hpp"

namespace kcg {

/// Remembers what this report wrote, counts what it had to put back, and decides how long a
/// contested thing is left alone. `round` counts from 1 within a pass. Returns what somebody
/// else had undone, but where Kata or we ourselves may have moved a process.
std::vector<Repair> count_heals(Record& record, const Observed& observed, const Report& report,
                                unsigned round, Instant now);

/// Contested, if anything is.
[[nodiscard]] std::optional<Condition> contest_condition(const Record& record);

/// The plan without what is contested, or refused by systemd, and not due yet.
[[nodiscard]] Plan without_contested(const Plan& plan, const Record& record,
                                     const Observed& observed, Instant now);

}  // namespace kcg
