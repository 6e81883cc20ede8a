// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/mounts.hpp"

#include <fcntl.h>
#include <sys/epoll.h>

#include <cerrno>
#include <utility>

namespace kcg {

namespace {

/// Ours, not pid 1's: what counts is what we can open, and the node's later mounts come here, too.
constexpr const char* kMounts = "/proc/self/mountinfo";
constexpr const char* kMissedMounts =
    "what is mounted over a directory of bundles is found when everything is looked at again "
    "(reconcile.interval)";

}  // namespace

MountWatch::MountWatch(Loop& loop, std::function<void()> changed, TellHealth tell)
    : loop_(loop),
      changed_(std::move(changed)),
      shortage_(loop, std::move(tell), kMissedMounts, [this] {
        auto heard = listen();
        if (heard) changed_();
        return heard;
      }) {
  if (auto heard = listen(); !heard) shortage_.begin(heard.error());
}

Status MountWatch::listen() {
  Fd fd(::open(kMounts, O_RDONLY | O_CLOEXEC));
  if (const int code = errno; !fd) return fail(code, "open {}: {}", kMounts, errno_text(code));
  auto source = loop_.on_fd(fd.get(), EPOLLPRI, [this](std::uint32_t) { woken(); });
  if (!source) return forward(source.error(), kMounts);
  source_ = std::move(*source);
  fd_ = std::move(fd);
  return {};
}

void MountWatch::woken() {
  if (timer_) return;
  auto timer = loop_.at(clock_.now() + kGather, [this] { look(); });
  if (!timer) return look();
  timer_ = std::move(*timer);
}

void MountWatch::look() {
  timer_ = Source();
  changed_();
}

}  // namespace kcg
