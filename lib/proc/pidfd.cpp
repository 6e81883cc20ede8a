// SPDX-License-Identifier: Apache-2.0
#include "proc/pidfd.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/text.hpp"

namespace kcg {

Result<Fd> open_pidfd(ProcView& proc, const TaskKey& process) {
  Fd fd(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  if (!fd) {
    const int code = errno;
    return fail(code, "pidfd_open {}: {}", process.pid, errno_text(code));
  }
  // Who has the pid now and started then had it all the time: the descriptor is its.
  const auto now = proc.stat(process.pid);
  if (!now) return forward(now.error());
  if (now->key != process)
    return fail(ESRCH, "pidfd_open {}: the process that started at {} has ended", process.pid,
                process.start);
  return fd;
}

}  // namespace kcg
