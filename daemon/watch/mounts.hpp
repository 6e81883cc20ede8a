// SPDX-License-Identifier: Apache-2.0
//
// Mounts that come and go (L9): a directory that something is mounted on is another one, and
// inotify does not tell.
#pragma once

#include <functional>

#include "base/fd.hpp"
#include "daemon/loop.hpp"
#include "daemon/watch/shortage.hpp"

namespace kcg {

/// Resource: calls `changed` a moment after a change; many together are one. Each container's start
/// is one.
class MountWatch final {
 public:
  MountWatch(Loop& loop, std::function<void()> changed, TellHealth tell);

  static constexpr Instant kGather = std::chrono::milliseconds(100);

 private:
  [[nodiscard]] Status listen();
  void woken();
  void look();

  Loop& loop_;
  std::function<void()> changed_;
  SystemClock clock_;
  Fd fd_;
  Source source_;
  Source timer_;
  Shortage shortage_;
};

}  // namespace kcg
