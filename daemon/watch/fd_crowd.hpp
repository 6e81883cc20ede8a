// SPDX-License-Identifier: Apache-2.0
//
// Thousands of descriptors that are ready once in their life (L6, internal to watch/): an epoll of
// their own in the loop, since a source of the loop for each would be three times the memory.
#pragma once

#include <functional>
#include <span>
#include <utility>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "daemon/loop.hpp"

namespace kcg {

/// Resource: see the head of the file.
class FdCrowd final {
 public:
  /// A portion of those who are ready, as they were added; they are there until this returns, or
  /// until it drops them itself.
  using Ready = std::function<void(std::span<void* const>)>;

  FdCrowd(Loop& loop, Ready ready) : loop_(loop), ready_(std::move(ready)) {}
  FdCrowd(const FdCrowd&) = delete;
  FdCrowd& operator=(const FdCrowd&) = delete;
  ~FdCrowd() = default;

  /// `who` is told as long as there is something to be read from `fd`, until that is closed.
  [[nodiscard]] Status add(int fd, void* who);

 private:
  [[nodiscard]] Status open();
  void woken();

  Loop& loop_;
  Ready ready_;
  Fd epoll_;
  Source source_;
};

}  // namespace kcg
