// SPDX-License-Identifier: Apache-2.0
//
// VMMs that start at a given rate, live for a while and end.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>

#include "support/live/node.hpp"

namespace kcg::bench {

/// Value: a storm.
struct Storm {
  std::size_t lives = 50;
  double rate = 10;  ///< starts per second
  std::chrono::milliseconds length{4000};
  bool light = true;  ///< else with a real QEMU
  bool kvm = true;    ///< the vCPUs of light ones are KVM's
  bool names = true;  ///< they say themselves what they are; without KVM always
};

/// Value: what else happens in a storm.
struct Hooks {
  std::function<void(const live::Sandbox&)> on_start = {};
  /// When its time is over, before it ends.
  std::function<void(const live::Sandbox&, const live::Truth&)> on_end = {};
};

/// When the one of that number, from 0, begins, of so many in a second.
[[nodiscard]] std::chrono::steady_clock::time_point at_pace(
    std::chrono::steady_clock::time_point begin, std::size_t number, double rate);

/// The pace of what is measured: returns at that moment, or at once if it has passed.
void rest_until(std::chrono::steady_clock::time_point when);

/// Everybody's life.
void rage(const live::Node& node, const Storm& storm, const Hooks& hooks = {});

/// How many of them are not in place in the end.
[[nodiscard]] std::size_t misplaced_in(const live::Node& node, const Storm& storm);

/// What each of these lives costs the daemon, in ms of CPU time.
[[nodiscard]] double cpu_per_life(const live::Node& node, const live::Daemon& daemon,
                                  const Storm& storm);

}  // namespace kcg::bench
