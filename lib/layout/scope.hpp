// SPDX-License-Identifier: Apache-2.0
//
// Scopes that systemd makes, for us and for Kata (L3): which one is missing, whose it is, and what
// below an ended one is left to systemd.
#pragma once

#include <chrono>
#include <optional>

#include "base/clock.hpp"
#include "model/observed.hpp"
#include "model/plan.hpp"

namespace kcg {

/// True for a group that is a scope of systemd's, by its place.
[[nodiscard]] bool is_unit(const Host& host, const GroupRef& group);

/// A scope that does not exist yet: everything else waits for it. nullptr: there is none.
[[nodiscard]] const WantedGroup* missing_scope(const Observed& observed, const Desired& desired);
/// True while the scope itself is being made: nothing else can be done.
[[nodiscard]] bool waits_for_scope(const std::optional<PendingJob>& pending);
/// True when the group is made by systemd and holds a proven process of the sandbox: it was made on
/// our request, whatever became of our knowledge of it.
[[nodiscard]] bool scope_holds_us(const Observed& observed, const WantedGroup& group);

/// How long systemd may take for the removal of an ended scope and of all that is below it.
inline constexpr Instant kScopeRemovalGrace = std::chrono::seconds(5);
/// systemd removes an ended scope, ours or Kata's, with all that is below it. If somebody else
/// removes a part meanwhile, it gives up. It also tries only once, and cannot see who is still
/// dying in threaded groups: what is left of ours after some seconds is ours to remove.
[[nodiscard]] bool left_to_systemd(const Observed& observed, const GroupRef& group);

}  // namespace kcg
