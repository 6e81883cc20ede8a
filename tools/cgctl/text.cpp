// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/text.hpp"

#include <array>
#include <limits>

#include "base/text.hpp"
#include "base/utf8.hpp"

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

/// C0, DEL and C1: what a terminal would obey.
bool obeyed(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first < 0x20 || first >= 0x7f;
  return first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
}

std::string hexed(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  return out;
}

}  // namespace

std::string bytes_text(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{}", bytes);
  std::uint64_t unit = 1024;
  std::size_t suffix = 0;
  while (suffix + 1 < kSuffixes.size() && bytes / unit >= 10'000) {
    unit *= 1024;
    ++suffix;
  }
  const auto whole = bytes / unit;
  if (whole >= 10 || bytes % unit == 0) return fmt::format("{}{}", whole, kSuffixes[suffix]);
  return fmt::format("{}.{}{}", whole, bytes % unit * 10 / unit, kSuffixes[suffix]);
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

std::string cpu_text(std::uint64_t usec) {
  return fmt::format("{}.{:02}s", usec / 1'000'000, usec / 10'000 % 100);
}

std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    // A sequence that is its own replacement is well formed.
    const auto length = character_length(text, at);
    const auto character = text.substr(at, length);
    const bool good = valid_utf8(character) == character && !obeyed(character);
    out += good ? std::string(character) : hexed(character);
    at += length;
  }
  return out;
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

std::string cut_front(std::string_view text, std::size_t width, std::string_view mark) {
  const auto columns = columns_of(text);
  if (columns <= width) return std::string(text);
  if (width == 0) return "";
  std::size_t at = 0;
  for (std::size_t column = 0; column + width < columns + 1; ++column)
    at += character_length(text, at);
  return std::string(mark).append(text.substr(at));
}

Result<std::uint64_t> parse_bytes(std::string_view text) {
  std::uint64_t unit = 1;
  std::string_view digits = text;
  if (!text.empty()) {
    const auto suffix = kSuffixes.find(text.back());
    if (suffix != std::string_view::npos) {
      unit = std::uint64_t{1} << (10 * (suffix + 1));
      digits.remove_suffix(1);
    }
  }
  const auto count = parse_u64(digits);
  if (!count || *count > std::numeric_limits<std::uint64_t>::max() / unit)
    return fail(0, "'{}' is not a number of bytes; examples: 367001600, 350M, 2G", escaped(text));
  return *count * unit;
}

}  // namespace kcg::cgctl
