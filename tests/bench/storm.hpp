// SPDX-License-Identifier: Apache-2.0
//
// Light VMMs that start at a given rate, live for a while and end.
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
  bool kvm = true;  ///< their vCPUs are KVM's, and nothing else names them
};

/// Called as each sandbox starts.
using OnStart = std::function<void(const live::Sandbox&)>;

/// The pace of what is measured: returns at that moment, or at once if it has passed.
void rest_until(std::chrono::steady_clock::time_point when);

/// Everybody's life; returns how many were not in place in the middle of it.
std::size_t rage(const live::Node& node, const Storm& storm, const OnStart& on_start = {});

/// What each of these lives costs the daemon, in ms of CPU time.
[[nodiscard]] double cpu_per_life(const live::Node& node, const live::Daemon& daemon,
                                  const Storm& storm);

}  // namespace kcg::bench
