// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/fd_crowd.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <utility>

#include "daemon/watch/kept_fd.hpp"

namespace kcg {

Status FdCrowd::add(int fd, void* who) {
  if (auto opened = open(); !opened) return opened;
  epoll_event event{EPOLLIN, {who}};
  const int failed = ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
  if (const int code = errno; failed != 0) return fail(code, "epoll_ctl: {}", errno_text(code));
  return {};
}

Status FdCrowd::open() {
  if (epoll_) return {};
  Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (const int code = errno; !epoll) return fail(code, "epoll_create: {}", errno_text(code));
  auto room = kept(std::move(epoll));
  if (!room) return forward(room.error(), "epoll_create");
  auto source = loop_.on_fd(room->get(), EPOLLIN, [this](std::uint32_t) { woken(); });
  if (!source) return forward(source.error());
  epoll_ = std::move(*room);
  source_ = std::move(*source);
  return {};
}

void FdCrowd::woken() {
  std::array<epoll_event, 16> events;
  std::array<void*, events.size()> who;
  const int ready = ::epoll_wait(epoll_.get(), events.data(), events.size(), 0);
  const auto count = static_cast<std::size_t>(std::max(ready, 0));
  std::transform(events.begin(), events.begin() + count, who.begin(),
                 [](const epoll_event& event) { return event.data.ptr; });
  ready_({who.data(), count});
}

}  // namespace kcg
