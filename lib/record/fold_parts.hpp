// SPDX-License-Identifier: Apache-2.0
//
// The parts of fold() (L4, internal to record/): what holds after a pass, and when to look again.
#pragma once

#include "record/fold.hpp"

namespace kcg::folding {

/// Still being created, or moved elsewhere between the look and the write: looked at again.
[[nodiscard]] bool too_early(const StepResult& result);
[[nodiscard]] bool any_moved(const Report& report);

/// Since when steps fail by what may be an end. Failures of one pass are one look: `last_round`.
void note_failures(Record& record, const Report& report, bool last_round, Instant now);
/// Since when threads move without an end, and since when the VMM shows no vCPU.
void note_unrest(Record& record, const Observed& observed, const Report& report, unsigned round,
                 bool last_round, Instant now);

/// Conditions of this pass; a task that ended meanwhile is no failure, and a busy group is one only
/// when the retries are used up.
[[nodiscard]] std::vector<Condition> current_conditions(const Record& record,
                                                        const Observed& observed,
                                                        const Desired& desired,
                                                        const Report& report, Instant now);
/// One entry per condition name and text head keeps its first time; sticky ones stay.
[[nodiscard]] std::vector<ActiveCondition> merge(const std::vector<ActiveCondition>& before,
                                                 const std::vector<Condition>& now,
                                                 std::int64_t wall, bool new_life, bool vmm_runs);

[[nodiscard]] UnnamedThreads unnamed_of(const Observed& observed);
/// When it is looked where memory is charged.
void plan_charge(Record& record, const Observed& observed, Instant now);

}  // namespace kcg::folding
