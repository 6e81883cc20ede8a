// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/inotify.hpp"

#include <sys/epoll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace kcg {

Result<std::unique_ptr<Inotify>> Inotify::create(Loop& loop, Handler handler) {
  Fd fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!fd) {
    const int code = errno;
    return fail(code, "inotify_init1: {}{}", errno_text(code),
                code == EMFILE ? " (see fs.inotify.max_user_instances)" : "");
  }
  std::unique_ptr<Inotify> self(new Inotify(std::move(fd), std::move(handler)));
  auto source = loop.on_fd(self->fd_.get(), EPOLLIN,
                           [raw = self.get()](std::uint32_t) { raw->read_events(); });
  if (!source) return forward(source.error(), "inotify");
  self->source_ = std::move(*source);
  return self;
}

Result<int> Inotify::add(const std::string& path, std::uint32_t mask) {
  const int wd = ::inotify_add_watch(fd_.get(), path.c_str(), mask);
  if (wd >= 0) return wd;
  const int code = errno;
  return fail(code, "watch {}: {}{}", path, errno_text(code),
              code == ENOSPC ? " (see fs.inotify.max_user_watches)" : "");
}

void Inotify::remove(int wd) {
  (void)::inotify_rm_watch(fd_.get(), wd);  // ignored: EINVAL when the watched object is gone
}

void Inotify::read_events() {
  // One buffer per turn: what is left makes the descriptor ready again, and others get their turn.
  alignas(inotify_event) std::array<char, std::size_t{64} * 1024> buffer;
  const ssize_t size = ::read(fd_.get(), buffer.data(), buffer.size());
  for (std::size_t at = 0; size > 0 && at < static_cast<std::size_t>(size);) {
    inotify_event event{};
    std::memcpy(&event, buffer.data() + at, sizeof event);
    const char* name = buffer.data() + at + sizeof event;
    at += sizeof event + event.len;
    handler_(event.wd, event.mask, event.len == 0 ? std::string_view() : std::string_view(name));
  }
}

}  // namespace kcg
