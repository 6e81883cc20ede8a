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
  const bool fast = clock_.now() - read_at_ < kGather + kGather;
  fast_ = fast ? fast_ + 1 : 0;
  if (!fast) noisy_ = 0;
  if (fast_ >= kFew) rest();
  (void)read();  // ignored: a storm ends when nothing has gathered
}

Heard PacedFd::read() {
  read_at_ = clock_.now();
  const auto heard = read_();
  if (heard == Heard::noise)
    ++noisy_;
  else if (heard == Heard::news)
    noisy_ = 0;
  return heard;
}

void PacedFd::rest() {
  const auto gather = noisy_ >= kNoisy ? kGatherNoise : kGather;
  auto pause = loop_.at(clock_.now() + gather, [this] { go_on(); });
  if (!pause) return;  // then every event wakes us
  source_ = Source();
  pause_ = std::move(*pause);
}

/// Who reads may throw, or stop us.
void PacedFd::go_on() {
  pause_ = Source();
  const int fd = fd_;
  rest();
  const auto heard = read();
  if (fd_ != fd || (heard != Heard::nothing && pause_)) return;
  pause_ = Source();
  if (auto listening = listen(fd_, events_); !listening) failed_(listening.error());
}

}  // namespace kcg
