// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.hpp"

#include <cstddef>

namespace kcg {

namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

bool between(unsigned byte, unsigned low, unsigned high) { return byte >= low && byte <= high; }

/// Number of continuation bytes after `lead` (0 for ASCII), and the range of the first of them.
struct Shape {
  std::size_t more = 0;
  unsigned low = 0x80;
  unsigned high = 0xbf;
  bool good = true;
};

Shape shape_of(unsigned lead) {
  if (between(lead, 0x01, 0x7f)) return {};
  if (between(lead, 0xc2, 0xdf)) return {1, 0x80, 0xbf, true};
  if (lead == 0xe0) return {2, 0xa0, 0xbf, true};  // no overlong forms
  if (lead == 0xed) return {2, 0x80, 0x9f, true};  // no surrogates
  if (between(lead, 0xe1, 0xef)) return {2, 0x80, 0xbf, true};
  if (lead == 0xf0) return {3, 0x90, 0xbf, true};
  if (between(lead, 0xf1, 0xf3)) return {3, 0x80, 0xbf, true};
  if (lead == 0xf4) return {3, 0x80, 0x8f, true};  // nothing above U+10FFFF
  return {0, 0, 0, false};
}

unsigned byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

}  // namespace

std::size_t plain_end(std::string_view bytes, std::size_t at) {
  while (at < bytes.size() && between(byte_at(bytes, at), 0x20, 0x7e)) ++at;
  return at;
}

std::size_t utf8_length(std::string_view bytes, std::size_t at) {
  const Shape shape = shape_of(byte_at(bytes, at));
  if (!shape.good || bytes.size() - at <= shape.more) return 0;
  for (std::size_t i = 1; i <= shape.more; ++i) {
    const bool first = i == 1;
    const unsigned byte = byte_at(bytes, at + i);
    if (!between(byte, first ? shape.low : 0x80, first ? shape.high : 0xbf)) return 0;
  }
  return shape.more + 1;
}

std::string valid_utf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (std::size_t at = 0;;) {
    const auto plain = plain_end(bytes, at);
    out += bytes.substr(at, plain - at);
    at = plain;
    if (at == bytes.size()) return out;
    const std::size_t length = utf8_length(bytes, at);
    out += length > 0 ? bytes.substr(at, length) : kReplacement;
    at += length > 0 ? length : 1;
  }
}

}  // namespace kcg
