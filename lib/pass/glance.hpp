// SPDX-License-Identifier: Apache-2.0
//
// Whether a whole look would find anything new in a sandbox's threads (L7). A thread that is born,
// or names itself, and one that nothing names yet, are what makes a sandbox be looked at again most
// often, and hardly ever anything comes of it. A glance reads these threads and KVM's answer, and
// nothing else, but once, soon after a pass that moved somebody, where they are now. It decides
// nothing and moves nobody: where anything is not as it was, or cannot be read, a look follows,
// which takes what was read where that is all there is to it.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "model/stirred.hpp"
#include "pass/eye.hpp"
#include "pass/pass.hpp"

namespace kcg {

/// Value: a sandbox that was found as it should be.
struct Glance {
  std::vector<ProcessSeen> processes;
  VmSeen vm;
  Told told;  ///< since before its threads were read
  Plan warm;  ///< see plan/warm.hpp; done at each glance until warm_until
  Instant warm_until{0};
  std::optional<Instant> look_at;     ///< when there has to be a whole look
  std::optional<Instant> confirm_at;  ///< when it is seen whether the moves hold
  std::vector<Step> moves;            ///< until then
  /// nullptr: nothing is known of it.
  [[nodiscard]] const ProcessSeen* process(Pid pid) const;
  /// ProcessSeen::since; 0: nothing is known of it.
  [[nodiscard]] Instant seen_since(Pid pid) const;
  /// Whether one that is born in this process, or names itself, may be news. Threads of one that
  /// runs no VM are all of one class, are moved with it, and are born where it is.
  [[nodiscard]] bool cares_for_threads_of(Pid pid) const;
};

/// Of processes with more threads a look is taken in parts.
inline constexpr std::size_t kMostGlanced = 256;

/// nullopt: a pass with this result leaves something to be done, or to be read.
[[nodiscard]] std::optional<Glance> glance_after(const PassResult& result, const Clock& clock);

/// Behind a look at threads alone (Observed::threads_alone): what was still to be seen to in
/// `before` is so in `now`. Returns when, also where `now` is nullopt.
[[nodiscard]] std::optional<Instant> take_over(const Glance& before, std::optional<Glance>& now);

/// Value: what came of it.
struct Glanced {
  bool as_seen = false;          ///< else a look is needed
  ThreadsRead read;              ///< if that is all that was not as seen, else none
  std::optional<Instant> again;  ///< timer, if all was as seen
};

/// Looks at the threads of VMMs, and of processes in `stirred`; if nobody is, and whatever has
/// become of a VMM's threads since would have been heard of, at none. `told`: what is heard of by
/// now. New threads that are where they belong are noted in `glance`, and in `record` as threads
/// that nothing names.
[[nodiscard]] Glanced look_at_threads(const PassWorld& world, const Config& config, Glance& glance,
                                      const Stirred& stirred, const Told& told, Record& record);

}  // namespace kcg
