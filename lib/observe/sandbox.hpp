// SPDX-License-Identifier: Apache-2.0
//
// The world -> Observed, for one sandbox (L6). Reads only. The cost depends on the sandbox, not on
// how many others there are.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "base/clock.hpp"
#include "cgroup/tree.hpp"
#include "identify/recognise.hpp"
#include "model/config.hpp"
#include "model/observed.hpp"
#include "proc/view.hpp"
#include "record/record.hpp"

namespace kcg {

/// What is not told of groups is read again when it is older than this.
inline constexpr Instant kGroupsHold = std::chrono::seconds(1);

/// Value: threads of some processes of a sandbox, as they were read by themselves.
struct ThreadsRead {
  struct OfOne {
    TaskKey process;
    std::vector<ThreadFacts> threads;  ///< without their groups
    std::vector<Pid> others;           ///< tids of those that live, and are as they were
    KvmVcpus vcpus;
  };
  Instant since{0};  ///< what happened to threads before this was seen
  std::vector<OfOne> processes;
};

/// Value: what the observer must know besides inputs and record.
struct ObserveContext {
  /// Sandboxes whose VMM started before this (clock ticks since boot) are left alone unless they
  /// carry our mark; nullopt: every sandbox is placed.
  std::optional<std::uint64_t> managed_since;
  bool creation_recorded = false;       ///< our run directory says that we create its groups
  OverheadMeasured measured;            ///< what its overhead was last
  std::optional<NearLimit> near_limit;  ///< its memory, as measured last
  Told told;                            ///< what is heard of its threads by now
  /// The last look. What limits the groups between the pod's and the root, of which nobody tells,
  /// is taken from it for as long as kGroupsHold; not a quota of CPU time, which may have been
  /// raised. nullptr: all is read.
  const Observed* last = nullptr;
  bool groups_hold = false;  ///< nobody has told anything of its groups since: all are taken, and
                             ///< where anything but threads is news, quotas above ours are read
  bool around_told = false;  ///< but there may be one more of Kata's, and others in ours, by now
  /// Where `last` and `groups_hold`: nothing but these is news. nullptr: whatever is may be.
  const ThreadsRead* threads = nullptr;
};

/// What files and callers say about a sandbox, and nothing that a look would show.
[[nodiscard]] Observed hearsay(const Host& host, const Assembled& assembled);

/// Looks once. Tasks that end meanwhile are left out; nothing here fails as a whole.
[[nodiscard]] Observed observe_sandbox(const CgroupTree& tree, ProcView& proc, const Clock& clock,
                                       const Config& config, const Assembled& assembled,
                                       const Record& record, const ObserveContext& context);

}  // namespace kcg
