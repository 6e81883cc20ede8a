// SPDX-License-Identifier: Apache-2.0
//
// Whether a sandbox has ended, and whether one that ran before us is left alone (L3). Either way
// its groups, or its processes, are at stake: what could not be read decides nothing.
#pragma once

#include <cstdint>
#include <optional>

#include "model/observed.hpp"

namespace kcg {

/// Value: what earlier looks knew of a sandbox.
struct EarlierLooks {
  bool ended = false;   ///< it had ended
  bool proven = false;  ///< a process of it was proven
};

/// Shim and VMM ended; or there is no bundle and nothing runs. Who was never known cannot be known
/// to have ended: as long as something runs in its groups, they stay whole.
[[nodiscard]] bool has_ended(const Observed& observed, const EarlierLooks& earlier);

/// True for a sandbox whose VMM started before `managed_since` (clock ticks since boot) and that
/// nobody marked: it is left as it is. nullopt: every sandbox is placed.
[[nodiscard]] bool left_unmanaged(const Observed& observed,
                                  std::optional<std::uint64_t> managed_since);

}  // namespace kcg
