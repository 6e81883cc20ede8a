// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/inotify.hpp"

#include <sys/epoll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

namespace kcg {

Inotify::Inotify(Loop& loop, Handler handler, Handled handled)
    : handler_(std::move(handler)),
      handled_(std::move(handled)),
      paced_(
          loop, [this] { return read_events(); },
          [this](const Error&) {
            // Whoever watches hears of lost events, watches anew, and meets the error there.
            deaf_ = true;
            handler_(-1, IN_Q_OVERFLOW, "");
            handled_();
          }) {}

Status Inotify::open() {
  if (!fd_) {
    Fd fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    if (!fd) {
      const int code = errno;
      return fail(code, "inotify_init1: {}{}", errno_text(code),
                  code == EMFILE ? " (see fs.inotify.max_user_instances, LimitNOFILE)" : "");
    }
    if (auto heard = paced_.listen(fd.get(), EPOLLIN); !heard)
      return forward(heard.error(), "inotify");
    fd_ = std::move(fd);
  } else if (deaf_) {
    if (auto heard = paced_.listen(fd_.get(), EPOLLIN); !heard)
      return forward(heard.error(), "inotify");
  }
  deaf_ = false;
  return {};
}

Result<int> Inotify::add(const std::string& path, std::uint32_t mask) {
  if (!fd_ || deaf_)
    if (auto opened = open(); !opened) return forward(opened.error());
  const int wd = ::inotify_add_watch(fd_.get(), path.c_str(), mask);
  if (wd >= 0) return wd;
  const int code = errno;
  return fail(code, "watch {}: {}{}", path, errno_text(code),
              code == ENOSPC ? " (see fs.inotify.max_user_watches)" : "");
}

void Inotify::remove(int wd) {
  if (fd_) (void)::inotify_rm_watch(fd_.get(), wd);  // ignored: EINVAL when the object is gone
}

void Inotify::hear() {
  if (fd_ && !deaf_) (void)read_events();  // ignored: whether there was something
}

Heard Inotify::read_events() {
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
  handled_();
  return size > 0 ? Heard::news : Heard::nothing;
}

}  // namespace kcg
