// SPDX-License-Identifier: Apache-2.0
//
// What is kept of a sandbox's measurements (L3, pure: the time is told).
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.hpp"
#include "model/usage.hpp"

namespace kcg {

/// Value: of its overhead.
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

/// Value: of a counter of CPU time.
class CpuTrack final {
 public:
  /// One measurement, in us; nullopt: not known.
  void note(std::optional<std::uint64_t> usec, Instant now);
  /// Thousandths of a CPU between the last two; nullopt: one of them told nothing, or the counter
  /// ran backwards, as that of a group that was made anew does.
  [[nodiscard]] std::optional<std::uint64_t> milli() const { return milli_; }

 private:
  std::optional<std::uint64_t> usec_, milli_;
  Instant at_{0};
};

}  // namespace kcg
