// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/pidfd.hpp"

#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>
#include <string_view>

#include "base/dir.hpp"
#include "base/text.hpp"
#include "kernel/proc_stat.hpp"

namespace kcg::bus {

namespace {

/// "Pid:" of the descriptor's fdinfo; -1 when the process has ended, 0 when it is in a pid
/// namespace that is not below ours (pidfd_open(2)).
Result<Pid> pid_of(const Dir& proc, int fd) {
  const auto info = proc.read(fmt::format("{}/fdinfo/{}", getpid(), fd));
  if (!info) return forward(info.error());
  for (const auto line : lines(*info)) {
    if (!line.starts_with("Pid:")) continue;
    const auto value = trim(line.substr(4));
    if (value == "-1") return fail(ESRCH, "the process has ended");
    if (const auto pid = parse_pid(value)) return *pid;
    return fail(ESRCH, "the process is not in our pid namespace");
  }
  return fail(EBADF, "not a pidfd");
}

}  // namespace

Result<TaskKey> task_of_pidfd(int fd) {
  const auto proc = Dir::open("/proc");
  if (!proc) return forward(proc.error());
  const auto pid = pid_of(*proc, fd);
  if (!pid) return forward(pid.error());
  const auto text = proc->read(fmt::format("{}/stat", *pid));
  if (!text) return forward(text.error());
  const auto stat = parse_proc_stat(*text);
  if (!stat) return forward(stat.error());
  if (const auto still = pid_of(*proc, fd); !still) return forward(still.error());
  return stat->key();
}

}  // namespace kcg::bus
