// SPDX-License-Identifier: Apache-2.0
//
// How often a thread or a file had to be put back (L3, internal to plan/). Somebody who changes the
// same thing again and again is not fought in a loop: after a few heals the tries get rare.
#pragma once

#include "plan/record.hpp"

namespace kcg {

/// Counts what this report put back, and decides how long a contested thing is left alone.
void count_heals(Record& record, const Observed& observed, const Report& report, Instant now);

}  // namespace kcg
