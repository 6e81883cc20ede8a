// SPDX-License-Identifier: Apache-2.0
//
// Measures what the sandboxes use (L9): all of them once per measure.interval, as a job in slices
// behind everything that is placed. No pass waits for it, and nothing is limited by it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "daemon/node/node.hpp"

namespace kcg {

/// Resource: see the head of the file. The node outlives it.
class Meter final {
 public:
  explicit Meter(Node& node) : node_(node) {}

  /// The interval may be another one: the next round is that much later.
  void configure();
  /// Counters are read again when they are older than the interval, however often somebody asks.
  /// nullopt: no such sandbox, or nothing is measured.
  [[nodiscard]] std::optional<SandboxUsage> usage(const SandboxId& id);

 private:
  void forget();
  void round_later();
  [[nodiscard]] bool go_on();
  void measure_one(const SandboxId& id);

  Node& node_;
  std::vector<SandboxId> left_;      ///< of the present round
  bool under_way_ = false;           ///< a round's job is in the scheduler
  std::uint64_t configuration_ = 0;  ///< how often it was configured: earlier timers are over
};

}  // namespace kcg
