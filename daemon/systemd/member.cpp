// SPDX-License-Identifier: Apache-2.0
#include "daemon/systemd/member.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace kcg::systemd {

Result<Member> open_member(ProcView& proc, const TaskKey& key) {
  Fd fd(static_cast<int>(::syscall(SYS_pidfd_open, key.pid, 0)));
  if (!fd) {
    const int code = errno;
    return fail(code, "pidfd_open {}: {}", key.pid, errno_text(code));
  }
  // Who has the pid now and started then had it all the time: the descriptor is its.
  const auto now = proc.stat(key.pid);
  if (!now || now->key != key) return fail(ESRCH, "process {} has ended", key.pid);
  return Member{key.pid, std::move(fd)};
}

}  // namespace kcg::systemd
