// SPDX-License-Identifier: Apache-2.0
#include "base/printable.hpp"

#include <fmt/format.h>

#include <cstddef>

#include "base/utf8.hpp"

namespace kcg {

namespace {

std::uint32_t code_unit(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

/// Of a well-formed character.
std::uint32_t code_point(std::string_view character) {
  if (character.size() == 1) return code_unit(character, 0);
  std::uint32_t code = code_unit(character, 0) & (0x7fU >> character.size());
  for (std::size_t i = 1; i < character.size(); ++i)
    code = code << 6 | (code_unit(character, i) & 0x3fU);
  return code;
}

/// What a terminal obeys instead of showing it.
bool obeyed(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e ||
         code == 0x200f || (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

std::string hexed(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  return out;
}

std::string clean(std::string_view text, bool keep_lines) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0;;) {
    const auto plain = plain_end(text, at);
    out += text.substr(at, plain - at);
    at = plain;
    if (at == text.size()) return out;
    const auto length = utf8_length(text, at);
    const auto character = text.substr(at, length == 0 ? 1 : length);
    const bool line = keep_lines && character == "\n";
    const bool good = length > 0 && (line || !obeyed(code_point(character)));
    out += good ? std::string(character) : hexed(character);
    at += character.size();
  }
}

}  // namespace

std::string printable(std::string_view text) { return clean(text, false); }

std::string printable_lines(std::string_view text) { return clean(text, true); }

std::string printable_json(std::string_view document) {
  std::string out;
  out.reserve(document.size());
  for (std::size_t at = 0; at < document.size();) {
    const auto length = utf8_length(document, at);
    const auto character = document.substr(at, length == 0 ? 1 : length);
    const auto code = length == 0 ? 0xfffdU : code_point(character);
    const bool plain = character == "\n" || (length > 0 && !obeyed(code));
    out += plain ? std::string(character) : fmt::format("\\u{:04x}", code);
    at += character.size();
  }
  return out;
}

}  // namespace kcg
