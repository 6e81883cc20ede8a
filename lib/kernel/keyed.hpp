// SPDX-License-Identifier: Apache-2.0
//
// Flat keyed files (L2): cgroup.events, memory.events, memory.stat, cpu.stat, memory.oom_control.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.hpp"

namespace kcg {

/// The number on the line whose first word is exactly `key`. ENOENT: there is no such line (an
/// older kernel, another controller); EINVAL: it holds no number.
[[nodiscard]] Result<std::uint64_t> keyed_value(std::string_view text, std::string_view key);

}  // namespace kcg
