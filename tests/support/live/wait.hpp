// SPDX-License-Identifier: Apache-2.0
//
// Waiting for what the kernel shows. /proc and /sys tell nobody when they change, so they are read
// again and again, with a deadline that only a broken product or machine reaches.
#pragma once

#include <chrono>
#include <functional>

#include "support/live/sanitized.hpp"

namespace kcg::live {

/// With the sanitizers everything takes longer: 200 shims that end at once on a slow machine took
/// over 30 s.
inline constexpr std::chrono::milliseconds kPatience{kSanitized ? 120'000 : 30'000};

/// False when `settled` did not become true before the deadline.
[[nodiscard]] bool wait_until(const std::function<bool()>& settled,
                              std::chrono::milliseconds patience = kPatience,
                              std::chrono::milliseconds step = std::chrono::milliseconds(2));

}  // namespace kcg::live
