// SPDX-License-Identifier: Apache-2.0
//
// Class of each thread (L3): KVM's word first, then names, then the role of its process.
#pragma once

#include <string_view>
#include <vector>

#include "model/process.hpp"

namespace kcg {

/// Classifies all threads of one process; same order as `threads`. A vCPU tid of `kvm` counts only
/// if it is one of `threads`. Dragonball's shim is classified like a VMM. `vcpu_known`: among
/// threads of the process that are not asked about.
[[nodiscard]] std::vector<Thread> classify(ProcessRole role, Hypervisor hypervisor,
                                           const std::vector<ThreadFacts>& threads,
                                           const KvmVcpus& kvm, bool vcpu_known = false);

/// Whether the thread's name says that it is a vCPU, whatever else tells it.
[[nodiscard]] bool named_vcpu(Hypervisor hypervisor, std::string_view comm);

/// Some vCPU has not run yet: KVM does not know its thread.
[[nodiscard]] bool incomplete(const KvmVcpus& vcpus);

/// KVM knows more vCPUs than there are among `threads`.
[[nodiscard]] bool vcpus_missing(const std::vector<Thread>& threads, const KvmVcpus& kvm);

/// What may tell another class of this thread: none but its name tells of what the kernel makes,
/// one that is called a vCPU is one, what it does tells nothing where KVM knows the VM's vCPUs, and
/// signals tell of QEMU's alone.
[[nodiscard]] VcpuHints hints_that_tell(Hypervisor hypervisor, const ThreadFacts& thread,
                                        const KvmVcpus& kvm);

/// Whether what a thread does, or the signals that it takes, may tell a vCPU that neither KVM nor
/// names tell.
[[nodiscard]] bool hints_tell_more(Hypervisor hypervisor, const std::vector<ThreadFacts>& threads,
                                   const KvmVcpus& kvm);

}  // namespace kcg
