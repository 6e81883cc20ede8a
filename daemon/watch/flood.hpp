// SPDX-License-Identifier: Apache-2.0
//
// When thread events are a flood, and who makes it (L6, pure). Anybody may name his threads as
// often as he likes, and each time wakes every listener.
#pragma once

#include <chrono>
#include <cstddef>
#include <set>
#include <unordered_map>

#include "base/clock.hpp"
#include "model/ids.hpp"

namespace kcg {

/// Value: counts within windows of time.
class FloodCount final {
 public:
  static constexpr Instant kWindow = std::chrono::milliseconds(100);
  /// More than this in one window is a flood. A hundred VMs that start in a second stay below.
  static constexpr std::size_t kMost = 500;
  /// Who makes more than this in one window is not heard while the flood lasts.
  static constexpr std::size_t kMostOfOne = 100;

  void add(Pid pid, Instant now) {
    if (now >= begin_ + kWindow) {
      begin_ = now;
      total_ = 0;
      by_pid_.clear();
    }
    ++total_;
    if (by_pid_.size() < kMost || by_pid_.contains(pid)) ++by_pid_[pid];
  }
  [[nodiscard]] bool flood() const { return total_ > kMost; }
  [[nodiscard]] std::set<Pid> loud() const {
    std::set<Pid> pids;
    for (const auto& [pid, count] : by_pid_)
      if (count > kMostOfOne) pids.insert(pid);
    return pids;
  }

 private:
  Instant begin_{0};
  std::size_t total_ = 0;
  std::unordered_map<Pid, std::size_t> by_pid_;
};

}  // namespace kcg
