// SPDX-License-Identifier: Apache-2.0
//
// Processes and threads as the kernel shows them (L1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/enums.hpp"
#include "model/file_id.hpp"
#include "model/ids.hpp"

namespace kcg {

/// Value: one process, from /proc through one pinned descriptor.
struct ProcFacts {
  TaskKey key;
  Pid ppid = 0;
  std::string comm;
  std::string exe;                ///< link text, without " (deleted)"; "" for kernel threads
  std::vector<std::string> args;  ///< what tells of its command line; see telling_args()
  std::string args_unknown;       ///< why the command line is not known; "" where args is all of it
  std::string cwd;                ///< link text
  std::optional<FileId> cwd_id;   ///< the directory behind cwd
  std::uint32_t real_uid = 0;
  bool same_pid_ns = false;   ///< as ours
  bool same_user_ns = false;  ///< as ours
  bool same_root = false;     ///< its root directory is pid 1's, by device and inode
  bool kernel_thread = false;
  bool operator==(const ProcFacts&) const = default;
};

/// Value: one thread.
struct ThreadFacts {
  TaskKey key;
  std::string comm;
  std::vector<std::string> groups;  ///< one path per Host::hierarchies entry, same order
  std::uint64_t cpu_ticks = 0;      ///< utime + stime
  std::uint64_t guest_ticks = 0;    ///< field 43 of stat
  bool in_vcpu_ioctl = false;       ///< in KVM_RUN on a kvm-vcpu descriptor
  std::optional<std::uint64_t> blocked_signals;  ///< SigBlk of its status; bit 0 is signal 1
  bool operator==(const ThreadFacts&) const = default;
};

/// Value: what of a thread, beside its stat, is to be read because it may tell a vCPU.
struct VcpuHints {
  bool syscall = false;  ///< ThreadFacts::in_vcpu_ioctl
  bool signals = false;  ///< ThreadFacts::blocked_signals
  bool operator==(const VcpuHints&) const = default;
};

/// Value: what KVM's debugfs says of one VM: tid of each vCPU, 0 = has not run yet.
struct KvmVcpus {
  std::map<std::uint32_t, Pid> tid_of;
  std::string directory = {};  ///< that it was read from; "": KVM has no such VM
  std::size_t silent = 0;      ///< vCPUs beside these, whose tid this kernel does not tell
  bool operator==(const KvmVcpus&) const = default;
};

/// Value: a thread with its class.
struct Thread {
  ThreadFacts facts;
  ThreadClass cls = ThreadClass::vmm;
  ClassSource by = ClassSource::fallback;
  bool operator==(const Thread&) const = default;
};

/// Value: a process that is proven to belong to the sandbox.
struct Process {
  ProcFacts facts;
  ProcessRole role = ProcessRole::descendant;
  Hypervisor hypervisor = Hypervisor::unknown;  ///< of a VMM (or of a shim with Dragonball inside)
  std::vector<Thread> threads;                  ///< the leader first
  bool operator==(const Process&) const = default;
};

}  // namespace kcg
