// SPDX-License-Identifier: Apache-2.0
#include "base/printable.hpp"

#include <gtest/gtest.h>

namespace kcg {
namespace {

TEST(Printable, NothingIsObeyed) {
  const struct {
    const char* name;
    std::string text, shown;
  } rows[] = {
      {"plain", "web-0: 100 %", "web-0: 100 %"},
      {"other scripts", "äöü 東京 שלום", "äöü 東京 שלום"},
      {"beyond the first plane", "\U0001f600", "\U0001f600"},
      {"nothing", "", ""},
      {"NUL", std::string("a\0b", 3), "a\\x00b"},
      {"escape sequence", "\x1b[31mred", "\\x1b[31mred"},
      {"line ends", "a\r\nb\t", "a\\x0d\\x0ab\\x09"},
      {"DEL", "\x7f", "\\x7f"},
      {"C1: CSI", "\u009b31m", "\\xc2\\x9b31m"},
      {"first and last of C1", "\u0080\u009f", "\\xc2\\x80\\xc2\\x9f"},
      {"no-break space is none", "\u00a0", "\u00a0"},
      {"right to left override", "a\u202eb", "a\\xe2\\x80\\xaeb"},
      {"embeddings", "\u202a\u202b\u202c\u202d",
       "\\xe2\\x80\\xaa\\xe2\\x80\\xab\\xe2\\x80\\xac\\xe2\\x80\\xad"},
      {"isolates", "\u2066\u2069", "\\xe2\\x81\\xa6\\xe2\\x81\\xa9"},
      {"marks", "\u200e\u200f\u061c", "\\xe2\\x80\\x8e\\xe2\\x80\\x8f\\xd8\\x9c"},
      {"separators", "\u2028\u2029", "\\xe2\\x80\\xa8\\xe2\\x80\\xa9"},
      {"neighbours of them", "\u200d\u2010\u2027\u202f\u2065\u206a",
       "\u200d\u2010\u2027\u202f\u2065\u206a"},
      {"single bytes of C1", "\x9b\x80", "\\x9b\\x80"},
      {"cut off", "a\xe2\x80", "a\\xe2\\x80"},
      {"overlong", "\xc0\x9b", "\\xc0\\x9b"},
      {"surrogate", "\xed\xa0\x80", "\\xed\\xa0\\x80"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(printable(row.text), row.shown);
    EXPECT_EQ(printable(printable(row.text)), row.shown);
  }
}

TEST(Printable, LinesMayStay) {
  EXPECT_EQ(printable_lines("a\n\x1b\u202e\nb\n"), "a\n\\x1b\\xe2\\x80\\xae\nb\n");
}

TEST(Printable, AJsonDocumentSaysTheSame) {
  EXPECT_EQ(printable_json("{\n  \"a\": \"x\u202ey\u009b\x7f ä\"\n}\n"),
            "{\n  \"a\": \"x\\u202ey\\u009b\\u007f ä\"\n}\n");
}

}  // namespace
}  // namespace kcg
