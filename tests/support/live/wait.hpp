// SPDX-License-Identifier: Apache-2.0
//
// Waiting for what the kernel shows. /proc and /sys tell nobody when they change, so they are read
// again and again, with a deadline that only a broken product or machine reaches.
#pragma once

#include <chrono>
#include <functional>

namespace kcg::live {

inline constexpr std::chrono::milliseconds kPatience{30'000};

/// False when `settled` did not become true before the deadline.
[[nodiscard]] bool wait_until(const std::function<bool()>& settled,
                              std::chrono::milliseconds patience = kPatience,
                              std::chrono::milliseconds step = std::chrono::milliseconds(2));

}  // namespace kcg::live
