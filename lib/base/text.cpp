// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <limits>

namespace kcg {

namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

}  // namespace

std::optional<std::uint64_t> parse_u64(std::string_view text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || rest != end) return std::nullopt;
  return value;
}

std::optional<std::int64_t> parse_i64(std::string_view text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || rest != end) return std::nullopt;
  return value;
}

std::optional<std::int32_t> parse_pid(std::string_view text) {
  const auto value = parse_u64(text);
  if (!value || *value == 0 || *value > std::numeric_limits<std::int32_t>::max())
    return std::nullopt;
  return static_cast<std::int32_t>(*value);
}

std::size_t last_of(std::string_view text, char c) {
  if (text.empty()) return std::string_view::npos;
  const auto* at = static_cast<const char*>(::memrchr(text.data(), c, text.size()));
  return at == nullptr ? std::string_view::npos : static_cast<std::size_t>(at - text.data());
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  parts.reserve(4);  // more are few
  for (;;) {
    const auto at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> found;
  std::size_t at = 0;
  while (at < text.size()) {
    if (is_space(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && !is_space(text[end])) ++end;
    found.push_back(text.substr(at, end - at));
    at = end;
  }
  return found;
}

std::vector<std::string_view> lines(std::string_view text) {
  auto parts = split(text, '\n');
  if (parts.back().empty()) parts.pop_back();
  return parts;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view without_deleted(std::string_view text) {
  if (text.ends_with(kDeleted)) text.remove_suffix(kDeleted.size());
  return text;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const auto& part : parts) {
    if (&part != &parts.front()) text.append(separator);
    text.append(part);
  }
  return text;
}

std::string escaped(std::string_view text, std::size_t max) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\' && c != '\'';
    std::string piece = plain ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
    if (out.size() + piece.size() > max) return out + "...";
    out += piece;
  }
  return out;
}

}  // namespace kcg
