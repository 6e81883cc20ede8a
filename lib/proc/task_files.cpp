// SPDX-License-Identifier: Apache-2.0
#include "proc/task_files.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "kernel/proc_cgroup.hpp"
#include "kernel/proc_status.hpp"
#include "proc/vcpu_syscall.hpp"

namespace kcg {

Error gone(Error error, Pid pid) {
  if (error.code == ENOENT) error.code = ESRCH;
  error.text = fmt::format("/proc/{}: {}", pid, error.text);
  return error;
}

Result<ProcStat> read_stat(const Dir& dir, const std::string& path) {
  const auto text = dir.read_kernel(path);
  if (!text) return forward(text.error());
  return parse_proc_stat(*text);
}

Result<std::vector<Pid>> numbers_in(const Dir& dir) {
  std::vector<Pid> found;
  const auto listed = dir.for_each([&found](std::string_view name, bool) {
    if (const auto pid = parse_pid(name)) found.push_back(*pid);
  });
  if (!listed) return forward(listed.error());
  std::sort(found.begin(), found.end());
  return found;
}

Result<ThreadFacts> read_thread(StatFiles& stats, const Dir& tasks, const ThreadNumber& thread,
                                const Host& host) {
  const auto text = tasks.read_kernel(fmt::format("{}/cgroup", thread.tid));
  if (!text) return forward(gone(text.error(), thread.tid));
  auto groups = groups_for(host, *text);
  if (!groups) return forward(groups.error());
  return read_thread(stats, tasks, thread, std::move(*groups));
}

Result<ThreadFacts> read_thread(StatFiles& stats, const Dir& tasks, const ThreadNumber& thread,
                                std::vector<std::string> groups) {
  const Pid tid = thread.tid;
  auto stat = stats.read(thread.process, tid, tasks, fmt::format("{}/stat", tid));
  if (!stat) return forward(stat.error());
  // One that is ending is in no group any more, whatever its cgroup file said just now.
  if (stat->ending()) return fail(ESRCH, "task {} has ended", tid);
  ThreadFacts facts;
  facts.key = {tid, stat->start};
  facts.comm = std::move(stat->comm);
  facts.groups = std::move(groups);
  facts.cpu_ticks = stat->utime + stat->stime;
  facts.guest_ticks = stat->guest;
  return facts;
}

Result<std::vector<Pid>> children_of(const Dir& tasks, Pid tid) {
  const auto text = tasks.read_kernel(fmt::format("{}/children", tid));
  if (!text) return forward(text.error());
  std::vector<Pid> found;
  for (const auto word : words(*text))
    if (const auto child = parse_pid(word)) found.push_back(*child);
  return found;
}

/// A directory has a link from itself, one from above, and one from each directory in it.
std::size_t count_threads(const Dir& proc, Pid pid) {
  struct stat found{};
  const auto path = fmt::format("{}/task", pid);
  if (::fstatat(proc.fd(), path.c_str(), &found, 0) != 0 || found.st_nlink < 2) return 0;
  return found.st_nlink - 2;
}

void mark_hints(const Dir& process, VcpuHints wanted, ThreadFacts& thread) {
  if (wanted.syscall) thread.in_vcpu_ioctl = in_vcpu_ioctl(process, thread.key.pid);
  if (!wanted.signals) return;
  const auto status = process.read_kernel(fmt::format("task/{}/status", thread.key.pid));
  const auto mask = status ? parse_blocked_signals(*status) : forward(status.error());
  thread.blocked_signals = mask ? std::optional(*mask) : std::nullopt;
}

}  // namespace kcg
