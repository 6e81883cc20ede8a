// SPDX-License-Identifier: Apache-2.0
//
// The same steps done by nobody's daemon: bare mkdir and attach of a process with as many threads.
// Ratios against it say what the product costs, on any machine.
#pragma once

#include "support/live/node.hpp"
#include "timeline.hpp"

namespace kcg::bench {

/// Value: one round.
struct Bare {
  Micros mkdir{0};    ///< all groups of a sandbox
  Micros process{0};  ///< the whole process, in every hierarchy
  Micros threads{0};  ///< its vCPU threads, one by one
};

/// Starts a light VMM in the corner, does the steps, ends it.
[[nodiscard]] Bare bare_round(const live::Node& node, int vcpus);

/// CPU time of the kernel operations of one life and of nothing else: groups made, a light VMM and
/// its threads attached, groups removed when it has ended.
[[nodiscard]] Micros bare_life(const live::Node& node, int vcpus);

}  // namespace kcg::bench
