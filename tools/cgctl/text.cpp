// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/text.hpp"

#include <array>
#include <iterator>
#include <limits>
#include <utility>

#include "base/text.hpp"

namespace kcg::cgctl {

namespace {

constexpr std::string_view kSuffixes = "KMGT";

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; }

/// Length of the character that starts at `at` in valid UTF-8.
std::size_t character_length(std::string_view text, std::size_t at) {
  std::size_t length = 1;
  while (at + length < text.size() && continues(text[at + length])) ++length;
  return length;
}

/// The number and its unit. A fraction is shown where the number alone would say too little.
std::pair<std::string, std::string> size_parts(std::uint64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  if (bytes == 0) return {"0", "MiB"};
  std::size_t unit = 0;
  std::uint64_t size = 1;
  while (unit + 1 < std::size(kUnits) && bytes / size >= 1024) {
    size *= 1024;
    ++unit;
  }
  const auto whole = bytes / size;
  const bool large = unit >= 3 && whole < 100;
  if (bytes % size == 0 || (whole >= 10 && !large)) return {fmt::format("{}", whole), kUnits[unit]};
  return {fmt::format("{}.{}", whole, bytes % size * 10 / size), kUnits[unit]};
}

}  // namespace

std::string size_text(std::uint64_t bytes) {
  const auto [number, unit] = size_parts(bytes);
  return fmt::format("{} {}", number, unit);
}

std::string without_blanks(std::string text) {
  std::erase(text, ' ');
  return text;
}

std::string sizes_text(std::uint64_t part, std::uint64_t whole, std::string_view between) {
  const auto [first, first_unit] = size_parts(part);
  const auto [second, second_unit] = size_parts(whole);
  if (first_unit == second_unit || part == 0)
    return fmt::format("{}{}{} {}", first, between, second, second_unit);
  return fmt::format("{} {}{}{} {}", first, first_unit, between, second, second_unit);
}

std::string hundredths_text(std::uint64_t milli) {
  return fmt::format("{}.{:02}", milli / 1000, milli % 1000 / 10);
}

std::string cpus_text(std::uint64_t milli) { return hundredths_text(milli) + " CPU"; }

std::string count_text(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string duration_text(std::int64_t seconds) {
  if (seconds < 0) return "0s";
  if (seconds < 60) return fmt::format("{}s", seconds);
  const auto minutes = seconds / 60;
  if (minutes < 60) return fmt::format("{}m", minutes);
  const auto hours = minutes / 60;
  if (hours < 24) return fmt::format("{}h{}m", hours, minutes % 60);
  return fmt::format("{}d{}h", hours / 24, hours % 24);
}

std::string age_text(std::int64_t seconds) {
  if (seconds < 3600) return duration_text(seconds);
  if (seconds < 86400) return fmt::format("{}h", seconds / 3600);
  return fmt::format("{}d", seconds / 86400);
}

std::string cpu_text(std::uint64_t usec) {
  return fmt::format("{}.{:02}s", usec / 1'000'000, usec / 10'000 % 100);
}

std::string wait_text(std::uint64_t usec) {
  if (usec < 10'000) return fmt::format("{}.{} ms", usec / 1000, usec / 100 % 10);
  if (usec < 1'000'000) return fmt::format("{} ms", usec / 1000);
  return fmt::format("{}.{} s", usec / 1'000'000, usec / 100'000 % 10);
}

std::size_t columns_of(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) count += continues(c) ? 0U : 1U;
  return count;
}

std::string cut_end(std::string_view text, std::size_t width, std::string_view mark) {
  if (columns_of(text) <= width) return std::string(text);
  std::string out;
  for (std::size_t at = 0, column = 0; column + 1 < width; ++column) {
    const auto length = character_length(text, at);
    out += text.substr(at, length);
    at += length;
  }
  if (width > 0) out += mark;
  return out;
}

Result<std::uint64_t> parse_bytes(std::string_view text) {
  std::uint64_t unit = 1;
  std::string_view digits = text;
  if (digits.size() > 1 && digits.back() == 'i' &&
      kSuffixes.find(digits[digits.size() - 2]) != std::string_view::npos)
    digits.remove_suffix(1);  // Kubernetes' way: the same unit
  if (!digits.empty()) {
    const auto suffix = kSuffixes.find(digits.back());
    if (suffix != std::string_view::npos) {
      unit = std::uint64_t{1} << (10 * (suffix + 1));
      digits.remove_suffix(1);
    }
  }
  const auto count = parse_u64(digits);
  if (!count || *count > std::numeric_limits<std::uint64_t>::max() / unit)
    return fail(0, "'{}' is not a number of bytes; examples: 367001600, 350Mi, 2G", escaped(text));
  return *count * unit;
}

}  // namespace kcg::cgctl
