// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/table.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "tools/cgctl/text.hpp"

namespace kcg::cgctl {
namespace {

const std::vector<Column> kColumns = {{"ID"},
                                      {"POD", Align::left, Cut::end, 4},
                                      {"N", Align::right},
                                      {"PATH", Align::left, Cut::front, 6}};
const std::vector<std::vector<Cell>> kRows = {
    {{"a1"}, {"default/nginx"}, {"7"}, {"/kubepods/pod1/vcpu"}},
    {{"b22222"}, {""}, {"1234"}, {"/x"}}};

Style terminal(std::size_t width) {
  Style style;
  style.width = width;
  return style;
}

TEST(Table, IsWholeInAPipe) {
  EXPECT_EQ(table({}, kColumns, kRows),
            "ID      POD               N  PATH\n"
            "a1      default/nginx     7  /kubepods/pod1/vcpu\n"
            "b22222  -              1234  /x\n");
}

TEST(Table, HasTheSameWordsInEveryRowOfAPipe) {
  const auto text = table({}, kColumns, kRows);
  for (const auto line : lines(text)) EXPECT_EQ(words(line).size(), kColumns.size()) << line;
}

TEST(Table, FitsTheTerminalByCuttingWhatMayBeCut) {
  EXPECT_EQ(table(terminal(32), kColumns, kRows),
            "ID     POD          N PATH\n"
            "a1     default/…    7 …pod1/vcpu\n"
            "b22222 -         1234 /x\n");
}

TEST(Table, NeverCutsBelowTheLeast) {
  EXPECT_EQ(table(terminal(10), kColumns, kRows),
            "ID     POD     N PATH\n"
            "a1     def…    7 …/vcpu\n"
            "b22222 -    1234 /x\n");
}

TEST(Table, NoLineIsWiderThanATerminalThatIsWideEnough) {
  for (std::size_t width = 23; width < 60; ++width) {
    const auto text = table(terminal(width), kColumns, kRows);
    for (const auto line : lines(text)) EXPECT_LE(columns_of(line), width) << line;
  }
}

TEST(Table, HeaderStandsAlone) { EXPECT_EQ(table({}, {{"A"}, {"B"}}, {}), "A  B\n"); }

TEST(Table, ForeignTextCannotDriveTheTerminal) {
  EXPECT_EQ(table({}, {{"A"}}, {{{"x\x1b[2J"}}}), "A\nx\\x1b[2J\n");
}

TEST(Painted, OnlyWithColour) {
  Style style;
  EXPECT_EQ(painted(style, Paint::bad, "x"), "x");
  style.color = true;
  EXPECT_EQ(painted(style, Paint::bad, "x"), "\x1b[31mx\x1b[0m");
  EXPECT_EQ(painted(style, Paint::none, "x"), "x");
}

TEST(Table, ColourDoesNotChangeTheLayout) {
  Style style;
  style.color = true;
  auto text = table(style, kColumns, {{{"a", Paint::good}, {"b"}, {"1", Paint::bad}, {"/c"}}});
  for (const auto* code : {"\x1b[0m", "\x1b[1m", "\x1b[31m", "\x1b[32m"})
    for (auto at = text.find(code); at != std::string::npos; at = text.find(code))
      text.erase(at, std::string_view(code).size());
  EXPECT_EQ(text, table({}, kColumns, {{{"a"}, {"b"}, {"1"}, {"/c"}}}));
}

}  // namespace
}  // namespace kcg::cgctl
