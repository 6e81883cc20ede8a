// SPDX-License-Identifier: Apache-2.0
//
// A sandbox is given back (L8): look, plan, apply, and again until nothing of ours is left. No
// daemon may place it meanwhile.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "pass/pass.hpp"

namespace kcg {

/// Value: what became of one sandbox.
struct Released {
  std::string id;
  std::uint32_t steps = 0;            ///< done
  std::uint32_t processes = 0;        ///< moved
  std::vector<std::string> problems;  ///< why something of ours is left; empty: nothing is
  bool operator==(const Released&) const = default;
};

/// `pause` is called where members of a group are still dying, or systemd is at work, before the
/// next look; there are some twenty looks at most.
[[nodiscard]] Released release_sandbox(const PassWorld& world, const PassOrder& order,
                                       const Record& record, const std::function<void()>& pause);

/// Those that have a group of ours: all, or the one of this full id.
[[nodiscard]] Result<std::vector<Released>> release_node(const Config& config,
                                                         const std::string& id,
                                                         SystemdManager* systemd,
                                                         const std::function<void()>& pause);

}  // namespace kcg
