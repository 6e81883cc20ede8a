// SPDX-License-Identifier: Apache-2.0
//
// Numbers and widths as people read them in a terminal. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/printable.hpp"
#include "base/result.hpp"

namespace kcg::cgctl {

/// "862 MiB", "1.9 GiB", "12 KiB", "0 MiB".
[[nodiscard]] std::string size_text(std::uint64_t bytes);
/// "14 / 862 MiB", "900 MiB / 1.2 GiB": a unit that both have is said once.
[[nodiscard]] std::string sizes_text(std::uint64_t part, std::uint64_t whole,
                                     std::string_view between = " / ");
/// As a pipe shows it: "862MiB".
[[nodiscard]] std::string without_blanks(std::string text);
/// "1.25" of thousandths.
[[nodiscard]] std::string hundredths_text(std::uint64_t milli);
/// "1.25 CPU" of thousandths.
[[nodiscard]] std::string cpus_text(std::uint64_t milli);
/// "16 threads", "1 step".
[[nodiscard]] std::string count_text(std::size_t count, std::string_view what);
/// "45s", "12m", "3h12m", "9d4h" of a number of seconds.
[[nodiscard]] std::string duration_text(std::int64_t seconds);
/// "4s", "12m", "3h", "9d": the largest unit alone.
[[nodiscard]] std::string age_text(std::int64_t seconds);
/// "12.34s" of microseconds of CPU time.
[[nodiscard]] std::string cpu_text(std::uint64_t usec);

/// "0.9 ms", "41 ms", "1.2 s" of microseconds.
[[nodiscard]] std::string wait_text(std::uint64_t usec);

/// Number of characters; each counts as one column.
[[nodiscard]] std::size_t columns_of(std::string_view text);
/// Cut to `width` columns with `mark` (one column) at the end.
[[nodiscard]] std::string cut_end(std::string_view text, std::size_t width, std::string_view mark);

/// "350M", "350Mi", "2G", "1048576": bytes with an optional suffix K, M, G or T, or Ki, Mi, Gi or
/// Ti, which are the same: powers of 1024.
[[nodiscard]] Result<std::uint64_t> parse_bytes(std::string_view text);

}  // namespace kcg::cgctl
