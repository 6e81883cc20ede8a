// SPDX-License-Identifier: Apache-2.0
#include "daemon/systemd/members.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace kcg::systemd {

namespace {

bool is_still(ProcView& proc, const TaskKey& key) {
  const auto now = proc.stat(key.pid);
  return now && now->key == key;
}

}  // namespace

Result<std::vector<Member>> open_members(ProcView& proc, const std::vector<TaskKey>& keys) {
  std::vector<Member> members;
  for (const auto& key : keys) {
    Fd fd(static_cast<int>(::syscall(SYS_pidfd_open, key.pid, 0)));
    if (!fd) {
      const int code = errno;
      if (code == ESRCH) continue;
      return fail(code, "pidfd_open {}: {}", key.pid, errno_text(code));
    }
    // Who has the pid now and started then had it all the time: the descriptor is its.
    if (is_still(proc, key)) members.push_back({key.pid, std::move(fd)});
  }
  if (members.empty()) return fail(ESRCH, "all processes that were to go into it have ended");
  return members;
}

}  // namespace kcg::systemd
