// SPDX-License-Identifier: Apache-2.0
//
// What one ordinary life of a sandbox costs the daemon: CPU time and whole looks, over a storm of
// light VMMs that start at a given rate, live for a while and end.
#pragma once

#include <chrono>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "support/live/groups.hpp"

namespace kcg::bench {

/// Value: a storm.
struct Storm {
  std::size_t lives = 50;
  double rate = 10;  ///< starts per second
  std::chrono::milliseconds length{4000};
  bool kvm = true;  ///< their vCPUs are KVM's, and nothing else names them
};

/// CPU per life of a daemon that says nothing, looks per life of one that tells each of them, and
/// the bare kernel operations of a life in the same run.
[[nodiscard]] nlohmann::ordered_json bench_lives(live::Tree tree, const Storm& storm);

}  // namespace kcg::bench
