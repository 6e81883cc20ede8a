// SPDX-License-Identifier: Apache-2.0
//
// What is kept of a sandbox's measured overhead (L3, pure: the time is told).
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.hpp"
#include "model/usage.hpp"

namespace kcg {

/// Value: see the head of the file.
class OverheadTrack final {
 public:
  OverheadTrack() = default;
  /// `peak`: of the same VM, before a restart.
  explicit OverheadTrack(std::optional<std::uint64_t> peak) : peak_(peak) {}

  /// `window`: at least so long the most of the present is told; at most twice as long. nullopt: it
  /// is not known now.
  void note(std::optional<std::uint64_t> overhead, Instant now, Instant window);
  [[nodiscard]] OverheadMeasured measured() const;

 private:
  std::optional<std::uint64_t> used_, peak_;
  std::optional<std::uint64_t> here_, before_;  ///< the most of this window, and of the last one
  Instant began_{0};
};

}  // namespace kcg
