// SPDX-License-Identifier: Apache-2.0
//
// The seam to /proc and KVM's debugfs (L5). Two implementations: KernelProc (real) and FakeProc
// (tests/support). Read only; every answer is a snapshot that may be stale when it is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "kernel/mappings.hpp"
#include "model/host.hpp"
#include "model/process.hpp"

namespace kcg {

/// Value: the cheap part of a task's facts, one read of /proc/<pid>/stat.
struct TaskStat {
  TaskKey key;
  Pid ppid = 0;
  std::string comm;
  char state = '?';
  std::uint64_t guest_ticks = 0;  ///< see ThreadFacts
  bool operator==(const TaskStat&) const = default;
  [[nodiscard]] bool ending() const { return state == 'Z' || state == 'X'; }
};

/// Value: what many processes are asked for at once.
struct TaskName {
  std::string comm;
  Pid ppid = 0;
  bool operator==(const TaskName&) const = default;
};

/// Interface: see the head of the file. ESRCH: the task does not exist (any more). Any other error
/// means that it could not be read: nothing may be concluded from that.
class ProcView {
 public:
  virtual ~ProcView() = default;
  /// All thread group ids, ascending.
  [[nodiscard]] virtual Result<std::vector<Pid>> pids() = 0;
  /// Of a process or of any thread by its tid. Zombies have state 'Z'.
  [[nodiscard]] virtual Result<TaskStat> stat(Pid pid) = 0;
  /// Of one thread of a process, which costs half as much as by its tid alone. ESRCH: it has ended,
  /// or is none of this process.
  [[nodiscard]] virtual Result<TaskStat> thread_stat(Pid pid, Pid tid) = 0;
  /// Name and parent of each of these processes, in their order; errors as for stat(). The cheapest
  /// thing to ask of a crowd.
  [[nodiscard]] virtual std::vector<Result<TaskName>> names(const std::vector<Pid>& pids) = 0;
  /// Who it is: all of its facts but the command line (args_unknown says so). Cheap, never hangs,
  /// and nothing of it is kept: for processes that nothing is known about yet.
  [[nodiscard]] virtual Result<ProcFacts> identity(Pid pid) = 0;
  /// Identity and command line, of a process whose identity says that it is worth it. Read once per
  /// (pid, start time, comm) and kept until forget(). A command line that hangs, or cannot be read,
  /// leaves args_unknown set; a later call takes what has come of it.
  [[nodiscard]] virtual Result<ProcFacts> facts(Pid pid) = 0;
  /// Children of all threads of a process.
  [[nodiscard]] virtual Result<std::vector<Pid>> children(Pid pid) = 0;
  /// All threads with their groups, the leader first; more than `max` is EOVERFLOW. While
  /// use_ahead(true) those that there were when their children were asked for.
  [[nodiscard]] virtual Result<std::vector<ThreadFacts>> threads(Pid pid, const Host& host,
                                                                 std::size_t max) = 0;
  /// Reads what children(), threads() and mark_vcpu_hints() will be asked for, if the process has
  /// so many threads that this takes long. False: `stop` said so, and there is more to read. What
  /// was read counts once, while use_ahead(true), and is as old as the first part.
  [[nodiscard]] virtual bool read_ahead(const TaskKey& process, const Host& host,
                                        const std::function<bool()>& stop) = 0;
  /// Whether the one who asks now is the one who read ahead: nobody else takes it from him.
  virtual void use_ahead(bool use) = 0;
  /// Drops what was read ahead and not asked for.
  virtual void drop_ahead(Pid pid) = 0;
  /// Ids of all threads, ascending; for a process with too many of them.
  [[nodiscard]] virtual Result<std::vector<Pid>> tids(Pid pid) = 0;
  /// One thread with its groups. ESRCH: it has ended, or is none of this process.
  [[nodiscard]] virtual Result<ThreadFacts> thread(Pid pid, Pid tid, const Host& host) = 0;
  /// Sets in_vcpu_ioctl and blocked_signals of each thread of which they are `wanted` and that was
  /// not read ahead with them: for where kvm_vcpus() has no answer, or none yet. Not part of
  /// threads(), because it costs more than that.
  virtual void mark_vcpu_hints(Pid pid, std::vector<ThreadFacts>& threads,
                               const std::function<VcpuHints(const ThreadFacts&)>& wanted) = 0;
  /// Group paths of one task, one per host.hierarchies entry.
  [[nodiscard]] virtual Result<std::vector<std::string>> groups(Pid tid, const Host& host) = 0;
  /// Bytes that the process has touched and somebody is charged for, without files and hugetlbfs.
  [[nodiscard]] virtual Result<std::uint64_t> charged_memory(Pid pid) = 0;
  /// Bytes of hugetlbfs that the process has touched.
  [[nodiscard]] virtual Result<std::uint64_t> huge_memory(Pid pid) = 0;
  /// What the process has mapped; `resident`: with what of it is there, which takes the kernel a
  /// while for each GiB. EAGAIN: it is being read; a later call takes what has come of it.
  [[nodiscard]] virtual Result<std::vector<Mapping>> mappings(const TaskKey& process,
                                                              bool resident) = 0;
  /// vCPUs of the VM that `vmm` runs, from KVM's debugfs; empty when there is no entry. ENOENT: no
  /// debugfs at all.
  [[nodiscard]] virtual Result<KvmVcpus> kvm_vcpus(const TaskKey& vmm,
                                                   const std::vector<ThreadFacts>& threads) = 0;
  /// The process or thread of the node that was born last. Ids are given one after the other:
  /// between two answers nobody was born but the ids behind the first up to the second. nullopt:
  /// unknown.
  [[nodiscard]] virtual std::optional<Pid> last_born() = 0;
  /// Drops what is kept about a pid (it executed a program, or ended).
  virtual void forget(Pid pid) = 0;
  /// Drops what is kept about all processes but these; `living` as pids() gives it.
  virtual void forget_all_but(const std::vector<Pid>& living) = 0;
};

}  // namespace kcg
