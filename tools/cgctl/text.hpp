// SPDX-License-Identifier: Apache-2.0
//
// Numbers and foreign text as people read them in a terminal. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace kcg::cgctl {

/// "1118M", "1.5G", "512" (bytes): powers of 1024, at most four digits.
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);
/// "45s", "12m", "3h12m", "9d4h" of a number of seconds.
[[nodiscard]] std::string duration_text(std::int64_t seconds);
/// "12.34s" of microseconds of CPU time.
[[nodiscard]] std::string cpu_text(std::uint64_t usec);

/// Nothing in it can move the cursor or change colours: control characters and what is not UTF-8
/// become \xNN. Everything that came from outside goes through here.
[[nodiscard]] std::string printable(std::string_view text);

/// Number of characters; each counts as one column.
[[nodiscard]] std::size_t columns_of(std::string_view text);
/// Cut to `width` columns with `mark` (one column) at the end, or at the front (of paths).
[[nodiscard]] std::string cut_end(std::string_view text, std::size_t width, std::string_view mark);
[[nodiscard]] std::string cut_front(std::string_view text, std::size_t width,
                                    std::string_view mark);

/// "350M", "2G", "1048576": bytes with an optional suffix K, M, G or T (powers of 1024).
[[nodiscard]] Result<std::uint64_t> parse_bytes(std::string_view text);

}  // namespace kcg::cgctl
