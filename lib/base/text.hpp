// SPDX-License-Identifier: Apache-2.0
//
// Text without surprises (L0): strict numbers, splitting, escaping for people.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kcg {

/// Decimal digits only: no sign, no space, no overflow; nullopt otherwise.
[[nodiscard]] std::optional<std::uint64_t> parse_u64(std::string_view text);
/// As parse_u64, with an optional leading '-'.
[[nodiscard]] std::optional<std::int64_t> parse_i64(std::string_view text);
/// A positive decimal number that fits a pid.
[[nodiscard]] std::optional<std::int32_t> parse_pid(std::string_view text);

/// As rfind(), which goes byte by byte: where it is asked of each path and thread in each look.
[[nodiscard]] std::size_t last_of(std::string_view text, char c);
/// "a:b::c" -> {"a","b","","c"}; an empty text gives one empty part.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);
/// Whole tokens between blanks, tabs and newlines; none is empty.
[[nodiscard]] std::vector<std::string_view> words(std::string_view text);
/// Lines without their newline; a last empty one is left out.
[[nodiscard]] std::vector<std::string_view> lines(std::string_view text);
/// Parts of a text that is gone already would be read.
std::vector<std::string_view> split(std::same_as<std::string> auto&& temporary, char) = delete;
std::vector<std::string_view> words(std::same_as<std::string> auto&& temporary) = delete;
std::vector<std::string_view> lines(std::same_as<std::string> auto&& temporary) = delete;

/// Without leading and trailing white space.
[[nodiscard]] std::string_view trim(std::string_view text);

/// The kernel says of a link, or of a group, whose target is gone: it ends in this.
inline constexpr std::string_view kDeleted = " (deleted)";
/// Without that ending.
[[nodiscard]] std::string_view without_deleted(std::string_view text);

/// {"a","b"} -> "a, b" with the separator ", ".
[[nodiscard]] std::string join(const std::vector<std::string>& parts, std::string_view separator);

/// For logs and conditions: control bytes, quotes and non-ASCII as \xNN; what exceeds `max`
/// characters is cut and ends in "...".
[[nodiscard]] std::string escaped(std::string_view text, std::size_t max = 64);

}  // namespace kcg
