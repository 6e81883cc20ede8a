// SPDX-License-Identifier: Apache-2.0
//
// What sandboxes cost that just stand there: the daemon's CPU time and memory, with and without
// strangers on the node, and with and without measuring what they use.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>

#include "support/live/node.hpp"

namespace kcg::bench {

/// Value: how many, and for how long it is looked.
struct Crowd {
  std::size_t settled = 50;  ///< that stand while CPU time is measured
  std::size_t many = 200;    ///< at which memory is measured
  std::size_t standing = 0;  ///< that stand while the price of measuring is taken
  std::size_t found = 0;     ///< that run when the daemon starts
  unsigned churn_us = 0;     ///< how often a VMM starts a thread that ends at once
  int seconds = 10;          ///< of each measurement
  /// Seconds before those that stand are measured; longer than an interval of measuring, since how
  /// a VMM maps its RAM is looked at in the first round.
  int first_round = 13;
  std::size_t few = 20;   ///< lives before the others stand, and beside them
  long strangers = 2000;  ///< fork+exec per second
};

[[nodiscard]] nlohmann::ordered_json bench_cost(const Crowd& o, const live::Node& node,
                                                const live::Daemon& daemon);
/// The same population under a daemon that measures nothing, under one that measures each of them
/// every 10 s, and under one that resyncs every 30 s as all do if nobody says otherwise.
[[nodiscard]] nlohmann::ordered_json bench_standing(live::Tree tree, const Crowd& crowd);
/// How long a daemon takes until it is ready, and until it has looked at all that another one has
/// placed.
[[nodiscard]] nlohmann::ordered_json bench_cold_start(live::Tree tree, const Crowd& crowd);
/// What one VMM that starts and ends threads without end costs, beside one that does nothing.
[[nodiscard]] nlohmann::ordered_json bench_churn(live::Tree tree, const Crowd& crowd);

}  // namespace kcg::bench
