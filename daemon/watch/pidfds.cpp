// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/pidfds.hpp"

#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace kcg {

Status PidWatch::watch(const std::string& id, const TaskKey& process) {
  if (watched_.contains(process)) return {};
  Fd fd(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  if (!fd) {
    const int code = errno;
    return fail(code, "pidfd_open {}: {}", process.pid, errno_text(code));
  }
  // The descriptor is some process with this pid; only its start time says that it is the one.
  const auto now = proc_.stat(process.pid);
  if (!now || now->key != process)
    return fail(ESRCH, "pidfd_open {}: the process that started at {} has ended", process.pid,
                process.start);
  auto source = loop_.on_fd(fd.get(), EPOLLIN, [this, process](std::uint32_t) { ended(process); });
  if (!source) return forward(source.error());
  watched_.emplace(process, Watched{id, std::move(fd), std::move(*source)});
  return {};
}

void PidWatch::unwatch(const std::string& id) {
  std::erase_if(watched_, [&](const auto& one) { return one.second.id == id; });
}

void PidWatch::ended(const TaskKey& process) {
  const auto watched = watched_.extract(process);
  if (!watched.empty()) sink_({HintKind::process_end, watched.mapped().id, process.pid});
}

}  // namespace kcg
