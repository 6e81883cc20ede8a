// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.hpp"

#include <gtest/gtest.h>

namespace kcg {
namespace {

using namespace std::string_view_literals;

/// "?" stands for U+FFFD in the rows.
std::string readable(std::string_view text) {
  constexpr std::string_view replacement = "\xef\xbf\xbd";
  std::string out;
  while (!text.empty()) {
    const bool replaced = text.starts_with(replacement);
    out.push_back(replaced ? '?' : text.front());
    text.remove_prefix(replaced ? replacement.size() : 1);
  }
  return out;
}

TEST(ValidUtf8, ReplacesWhatIsNotACharacter) {
  const struct {
    const char* name;
    std::string_view bytes, out;
  } rows[] = {
      {"empty", "", ""},
      {"ASCII", "CPU 0/KVM\n", "CPU 0/KVM\n"},
      {"two bytes", "\xc3\xa9", "\xc3\xa9"},
      {"three bytes", "\xe2\x82\xac", "\xe2\x82\xac"},
      {"four bytes", "\xf0\x9f\x90\xbb", "\xf0\x9f\x90\xbb"},
      {"last character", "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},
      {"NUL", "a\0b"sv, "a?b"},
      {"lone continuation", "\x80x", "?x"},
      {"cut off at the end", "x\xe2\x82", "x??"},
      {"cut off in the middle", "\xe2\x82x", "??x"},
      {"overlong slash", "\xc0\xaf", "??"},
      {"overlong, three bytes", "\xe0\x9f\xbf", "???"},
      {"overlong, four bytes", "\xf0\x8f\xbf\xbf", "????"},
      {"surrogate", "\xed\xa0\x80", "???"},
      {"above U+10FFFF", "\xf4\x90\x80\x80", "????"},
      {"never a byte", "\xff\xfe", "??"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto out = valid_utf8(row.bytes);
    EXPECT_EQ(readable(out), row.out);
    EXPECT_EQ(valid_utf8(out), out);
  }
}

}  // namespace
}  // namespace kcg
