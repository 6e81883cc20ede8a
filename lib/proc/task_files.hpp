// SPDX-License-Identifier: Apache-2.0
//
// What single files of /proc tell of a task (L5, internal to proc/). ESRCH: it has ended.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/dir.hpp"
#include "base/result.hpp"
#include "kernel/proc_stat.hpp"
#include "model/host.hpp"
#include "model/ids.hpp"
#include "model/process.hpp"
#include "proc/stat_files.hpp"

namespace kcg {

/// /proc says ENOENT for a task that is not there, and ESRCH for one that has ended since.
[[nodiscard]] Error gone(Error error, Pid pid);

/// Errors as the kernel has them: see gone().
[[nodiscard]] Result<ProcStat> read_stat(const Dir& dir, const std::string& path);

/// Numeric names of a directory, ascending.
[[nodiscard]] Result<std::vector<Pid>> numbers_in(const Dir& dir);

/// Value: which one of a process.
struct ThreadNumber {
  Pid process = 0;
  Pid tid = 0;
};

/// One thread: a read of stat and one of cgroup.
[[nodiscard]] Result<ThreadFacts> read_thread(StatFiles& stats, const Dir& tasks,
                                              const ThreadNumber& thread, const Host& host);
/// Likewise where its groups are known: stat alone.
[[nodiscard]] Result<ThreadFacts> read_thread(StatFiles& stats, const Dir& tasks,
                                              const ThreadNumber& thread,
                                              std::vector<std::string> groups);

/// Children that one thread of a process has started. ENOENT for a thread that is there: the kernel
/// does not tell children.
[[nodiscard]] Result<std::vector<Pid>> children_of(const Dir& tasks, Pid tid);

/// How many threads a process has; 0: not known.
[[nodiscard]] std::size_t count_threads(const Dir& proc, Pid pid);

/// Sets what is `wanted` of in_vcpu_ioctl and blocked_signals.
void mark_hints(const Dir& process, VcpuHints wanted, ThreadFacts& thread);

}  // namespace kcg
