// SPDX-License-Identifier: Apache-2.0
//
// USER_HZ (L1): the unit of times in /proc/<pid>/stat on every Linux architecture that runs Kata.
#pragma once

#include <cstdint>

namespace kcg {

inline constexpr std::uint64_t kTicksPerSecond = 100;
inline constexpr std::uint64_t kUsecPerTick = 1'000'000 / kTicksPerSecond;

}  // namespace kcg
