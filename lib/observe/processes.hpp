// SPDX-License-Identifier: Apache-2.0
//
// Processes of one sandbox (L6): candidates, proof, threads, classes.
#pragma once

#include <vector>

#include "model/config.hpp"
#include "model/observed.hpp"
#include "observe/groups.hpp"
#include "observe/sandbox.hpp"
#include "proc/view.hpp"
#include "record/record.hpp"

namespace kcg {

/// Fills observed.processes, .foreign, .kvm_incomplete, .kvm_directory, .vcpus_missing.
void observe_processes(ProcView& proc, const Config& config, const Record& record,
                       const Inside& inside, Observed& observed);

/// Likewise, from what `last` has seen and threads that were read since: new ones are asked for
/// their groups. False: more than these is news.
[[nodiscard]] bool observe_threads(ProcView& proc, const Observed& last, const ThreadsRead& read,
                                   Observed& observed);

/// KVM's word; empty where it has none.
[[nodiscard]] Result<KvmVcpus> vcpus_of(ProcView& proc, const TaskKey& vmm,
                                        const std::vector<ThreadFacts>& threads);

/// Where the threads of one that runs a VM can tell more than KVM and their names, they are asked
/// for hints of their own.
void ask_for_hints(ProcView& proc, const Process& process, const KvmVcpus& vcpus,
                   std::vector<ThreadFacts>& threads);

}  // namespace kcg
