// SPDX-License-Identifier: Apache-2.0
#include "kernel/mappings.hpp"

#include <charconv>
#include <cstddef>

#include "base/text.hpp"
#include "kernel/sizes.hpp"

namespace kcg {

namespace {

std::optional<std::uint64_t> parse_hex(std::string_view text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value, 16);
  if (text.empty() || error != std::errc() || rest != end) return std::nullopt;
  return value;
}

/// "7f9f9fe00000-7f9fafe00000": its length.
std::optional<std::uint64_t> parse_range(std::string_view text) {
  const auto dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto begin = parse_hex(text.substr(0, dash));
  const auto end = parse_hex(text.substr(dash + 1));
  if (!begin || !end || *end <= *begin) return std::nullopt;
  return *end - *begin;
}

/// "7f9f-7fa0 rw-p 00000000 00:00 0 [heap]"; the name may hold blanks.
std::optional<Mapping> parse_head(const std::vector<std::string_view>& parts) {
  constexpr std::size_t kFields = 5;
  if (parts.size() < kFields || parts[1].size() != 4) return std::nullopt;
  const auto bytes = parse_range(parts[0]);
  const auto inode = parse_u64(parts[4]);
  if (!bytes || !inode) return std::nullopt;
  Mapping mapping;
  mapping.bytes = *bytes;
  mapping.writable = parts[1][1] == 'w';
  mapping.shared = parts[1][3] == 's';
  mapping.file = *inode != 0;
  const bool named = parts.size() > kFields && !parts[kFields].starts_with("[anon:");
  mapping.plain = !mapping.file && !named;
  return mapping;
}

tl::unexpected<Error> not_understood(std::string_view line) {
  return fail(0, "mappings: not understood: '{}'", escaped(line));
}

}  // namespace

/// Of each some twenty lines follow: QEMU's are thousands.
Result<std::vector<Mapping>> parse_mappings(std::string_view text) {
  if (!text.empty() && text.back() != '\n') return fail(0, "mappings: the last line is cut");
  std::vector<Mapping> found;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() + 1);
    const auto key = line.substr(0, line.find(' '));
    if (!key.ends_with(':')) {
      const auto head = parse_head(words(line));
      if (!head) return not_understood(line);
      found.push_back(*head);
    } else if (found.empty()) {
      return not_understood(line);
    } else if (key == "Rss:") {
      found.back().resident = bytes_of_kib(words(line));
      if (!found.back().resident) return fail(0, "mappings: no size in '{}'", escaped(line));
    }
  }
  return found;
}

}  // namespace kcg
