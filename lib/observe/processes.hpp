// SPDX-License-Identifier: Apache-2.0
//
// Processes of one sandbox (L6): candidates, proof, threads, classes.
#pragma once

#include <set>
#include <vector>

#include "model/config.hpp"
#include "model/observed.hpp"
#include "observe/groups.hpp"
#include "proc/view.hpp"
#include "record/record.hpp"

namespace kcg {

/// Fills observed.processes, .foreign, .kvm_incomplete, .kvm_directory, .vcpus_missing.
void observe_processes(ProcView& proc, const Config& config, const Record& record,
                       const Inside& inside, Observed& observed);

/// Likewise, from what `last` has seen and the threads, as they are now, of those that run a VM and
/// of `stirred`. False: one of them is gone.
[[nodiscard]] bool observe_threads(ProcView& proc, const Config& config, const Observed& last,
                                   const std::set<Pid>& stirred, Observed& observed);

/// KVM's word for a VMM. Where its threads can tell more than KVM and their names, they are asked
/// for hints of their own.
[[nodiscard]] Result<KvmVcpus> vcpus_of(ProcView& proc, const Process& process,
                                        std::vector<ThreadFacts>& threads);

}  // namespace kcg
