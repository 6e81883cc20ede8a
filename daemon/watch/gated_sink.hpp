// SPDX-License-Identifier: Apache-2.0
//
// HintGate in the loop (L9): between the sources and whoever acts on them.
#pragma once

#include <optional>

#include "daemon/loop.hpp"
#include "daemon/watch/hint_gate.hpp"

namespace kcg {

/// Resource: see the head of the file.
class GatedSink final {
 public:
  GatedSink(Loop& loop, HintSink sink) : loop_(loop), sink_(std::move(sink)) {}
  GatedSink(const GatedSink&) = delete;
  GatedSink& operator=(const GatedSink&) = delete;
  ~GatedSink() = default;

  void operator()(const Hint& hint);

 private:
  void pass_due();
  void arm();

  Loop& loop_;
  HintSink sink_;
  SystemClock clock_;
  HintGate gate_;
  Source timer_;
  std::optional<Instant> armed_;  ///< for then
};

}  // namespace kcg
