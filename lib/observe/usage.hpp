// SPDX-License-Identifier: Apache-2.0
//
// Measuring what a sandbox uses (L6): one counter file of its group each time, a second one where
// that has moved, and its VMM's mappings rarely. No pass does this, and nothing that is placed or
// limited follows from it.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "base/clock.hpp"
#include "base/flat_set.hpp"
#include "base/rare.hpp"
#include "cgroup/tree.hpp"
#include "identify/prove.hpp"
#include "measure/near_limit.hpp"
#include "measure/overhead.hpp"
#include "measure/track.hpp"
#include "model/view.hpp"
#include "proc/view.hpp"

namespace kcg {

/// Value: whose memory is measured, and where it is charged.
struct MeasureTarget {
  CgroupPath group;
  TaskKey vmm;  ///< the process that has mapped the guest's RAM
  /// Bytes of RAM that the VM has, if anybody says so; asked where its mappings are looked at.
  std::function<std::optional<std::uint64_t>()> ram = {};
  std::optional<MemoryCeiling> ceiling = {};  ///< nullopt: its group has no limit
};

/// nullopt: it has no group of its own, or no VM of it runs here. `ram` and `ceiling` are left out.
[[nodiscard]] std::optional<MeasureTarget> measure_target(const SandboxView& view,
                                                          const FlatSet<Trusted>& trusted);

/// RAM that the VM has, as far as anybody says.
[[nodiscard]] std::optional<std::uint64_t> ram_of(ProcView& proc, const TaskKey& vmm,
                                                  const SandboxInputs& inputs);

/// Value: what is kept of one VMM from one measurement to the next.
struct Measuring {
  /// What is resident of private RAM, and how RAM is mapped, is looked at no more often.
  static constexpr Instant kLookPause = std::chrono::minutes(10);
  /// A VMM that has touched more is not held up for it.
  static constexpr std::uint64_t kMostTouched = std::uint64_t{8} << 30;
  /// Bytes; where the sum has moved less, what it consists of is counted once in a pause.
  static constexpr std::uint64_t kSame = std::uint64_t{256} << 10;
  static constexpr Instant kCountPause = std::chrono::minutes(1);

  TaskKey vmm;
  MemoryUse use;  ///< the last one
  NearLimitTrack near_limit;
  CpuTrack cpu;
  GuestLook guest;
  Instant look_at{0};                         ///< when its mappings are looked at next
  Instant counted_at{0};                      ///< when the last one was taken
  unsigned tries = 0;                         ///< looks in a row that told nothing
  Rare<std::optional<MemoryCounters>> asked;  ///< when what is resident was asked for
};

/// One measurement; `measuring` begins anew with another VMM. What is measured of private RAM is as
/// old as the last look at it, and the rest is at most kCountPause old where the sum stands still.
/// Whether it comes near its limit is as old as the measurement.
void measure(const CgroupTree& tree, ProcView& proc, const Clock& clock,
             const MeasureTarget& target, Measuring& measuring);

}  // namespace kcg
