// SPDX-License-Identifier: Apache-2.0
//
// Durations as people write them (L3): "500ms", "30s", "5m", "1h".
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace kcg {

/// A whole number and one unit (ms, s, m, h), without blanks; nullopt for anything else.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);
/// With the largest unit that needs no fraction; the value must not be negative.
[[nodiscard]] std::string duration_text(std::chrono::milliseconds duration);

}  // namespace kcg
