// SPDX-License-Identifier: Apache-2.0
//
// OomKilled (L3): did the kernel kill a process of the sandbox for lack of memory, in which group,
// at whose limit, and which budget was exceeded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/config.hpp"
#include "model/observed.hpp"

namespace kcg {

/// `oom_kill` of memory.events (v2, with all groups below) or memory.oom_control (v1, of the group
/// alone); nullopt: the group's count was not asked for.
[[nodiscard]] std::optional<std::uint64_t> oom_kills(const GroupState& group);

/// Whether it reads this file for that.
[[nodiscard]] bool tells_oom_kills(std::string_view file);

/// What is known of a sandbox whose id has come back: nothing but what its groups had counted.
[[nodiscard]] History next_life(const History& ended);

/// Files that say how full a group is and was, and what it allows.
[[nodiscard]] const std::vector<std::string>& memory_use_files(bool unified);

/// The condition as long as a killed process is known of. A new text is made when the count has
/// grown; `history` keeps it, and what the pod had counted before this VM.
[[nodiscard]] std::optional<Condition> oom_condition(const Config& config, const Observed& observed,
                                                     OomHistory& history);

}  // namespace kcg
