// SPDX-License-Identifier: Apache-2.0
//
// Processes of one sandbox (L5, internal to observe/): candidates, proof, threads, classes.
#pragma once

#include "model/config.hpp"
#include "model/observed.hpp"
#include "observe/groups.hpp"
#include "plan/record.hpp"
#include "proc/view.hpp"

namespace kcg {

/// Fills observed.processes, .foreign, .kvm_incomplete.
void observe_processes(ProcView& proc, const Config& config, const Record& record,
                       const Inside& inside, Observed& observed);

}  // namespace kcg
