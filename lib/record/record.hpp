// SPDX-License-Identifier: Apache-2.0
//
// What is remembered about a sandbox between passes (L4). After a crash an empty record and the
// kernel give the same plan.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "base/clock.hpp"
#include "base/flat_set.hpp"
#include "base/rare.hpp"
#include "identify/prove.hpp"
#include "model/observed.hpp"
#include "model/plan.hpp"
#include "model/standing.hpp"
#include "record/found_groups.hpp"
#include "record/parts.hpp"

namespace kcg {

/// Value: see the head of the file.
struct Record {
  // Facts.
  SandboxState state = SandboxState::discovered;
  std::vector<ActiveCondition> conditions;
  std::optional<FixedLayout> fixed;
  std::optional<Layout> only_layout;   ///< see Observed, by the last look
  std::optional<Packed<Place>> place;  ///< the last one that was wanted
  History history;
  bool watched = false;  ///< it was seen before its VMM started
  bool placed_once = false;
  std::int64_t created = 0;       ///< seconds since the epoch: start of VMM, else shim
  std::optional<Instant> ended;   ///< since when it is gone, as far as was seen
  FlatSet<Trusted> trusted;       ///< identities proven in earlier passes
  std::set<Pid> shim_candidates;  ///< processes that call themselves its shim; to be proven
  FoundGroups found_groups;       ///< of the last pass, or found at the start

  // What is waited for.
  Heals heals;
  VmmLife vmm;
  Rare<ScopeTries> scope;
  Retries retries;
  Unread unread;
  Rare<Failures> failures;
  Rare<Unrest> unrest;
  Unnamed unnamed;
  ChargeLook charge;

  bool operator==(const Record&) const = default;
};

/// What is known to somebody who looks only once: since when things are so is not.
[[nodiscard]] Record one_look();

/// True if this pass shall look where the memory of the sandbox is charged.
[[nodiscard]] bool charge_wanted(const Record& record, Instant now);

/// What of it is told.
[[nodiscard]] Standing standing_of(const Record& record);

}  // namespace kcg
