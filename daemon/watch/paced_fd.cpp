// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/paced_fd.hpp"

#include <utility>

namespace kcg {

Status PacedFd::listen(int fd, std::uint32_t events) {
  auto source = loop_.on_fd(fd, events, [this](std::uint32_t) { woken(); });
  if (!source) return forward(source.error());
  source_ = std::move(*source);
  fd_ = fd;
  events_ = events;
  return {};
}

void PacedFd::stop() {
  source_ = Source();
  pause_ = Source();
  fd_ = -1;
}

void PacedFd::woken() {
  const auto now = clock_.now();
  const bool storm = now - std::exchange(woken_, now) < kGather + kGather;
  if (storm) rest(now);
  read_();
}

void PacedFd::rest(Instant now) {
  auto pause = loop_.at(now + kGather, [this] {
    pause_ = Source();
    if (auto heard = listen(fd_, events_); !heard) failed_(heard.error());
  });
  if (!pause) return;  // then every event wakes us
  source_ = Source();
  pause_ = std::move(*pause);
}

}  // namespace kcg
