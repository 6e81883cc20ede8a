// SPDX-License-Identifier: Apache-2.0
//
// A descriptor whose events are read in bounded portions (L6, internal to watch/).
#pragma once

#include <cstdint>
#include <functional>

#include "daemon/loop.hpp"

namespace kcg {

/// What one reading gave.
enum class Heard : std::uint8_t {
  nothing,
  noise,  ///< events that concern nobody
  news,
};

/// Resource: calls `read` when the descriptor is ready. Several wake-ups that follow each other
/// fast are a storm: then events may gather for a moment and are read together, so that a flood
/// costs a bounded number of wake-ups, and everybody else gets a turn in between. They gather for
/// longer where many readings in a row gave only noise.
class PacedFd final {
 public:
  using Read = std::function<Heard()>;
  /// The loop does not listen any more.
  using Failed = std::function<void(const Error&)>;

  PacedFd(Loop& loop, Read read, Failed failed)
      : loop_(loop), read_(std::move(read)), failed_(std::move(failed)) {}

  /// Must be ended before the descriptor is closed.
  [[nodiscard]] Status listen(int fd, std::uint32_t events);
  void stop();

  static constexpr Instant kGather = std::chrono::milliseconds(2);
  static constexpr Instant kGatherNoise = std::chrono::milliseconds(6);
  static constexpr unsigned kNoisy = 16;  ///< readings
  /// What an ordinary pod's life brings at once is no storm: to gather it costs a wake-up more.
  static constexpr unsigned kFew = 3;  ///< wake-ups

 private:
  void woken();
  [[nodiscard]] Heard read();
  void rest();
  void go_on();

  Loop& loop_;
  Read read_;
  Failed failed_;
  SystemClock clock_;
  int fd_ = -1;
  std::uint32_t events_ = 0;
  Instant read_at_{0};
  unsigned fast_ = 0;   ///< wake-ups in a row
  unsigned noisy_ = 0;  ///< readings in a row, in one storm
  Source source_;
  Source pause_;
};

}  // namespace kcg
