// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/table.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "tools/cgctl/text.hpp"

namespace kcg::cgctl {
namespace {

const std::vector<Column> kColumns = {{"POD"},
                                      {"STATE"},
                                      {"N", Align::right},
                                      {"CPU TIME"},
                                      {"VMM", Align::left, Shown::where_it_differs},
                                      {"NOTES", Align::left, Shown::in_a_pipe}};
const std::vector<Row> kRows = {
    {{{"default/nginx"}, {"placed"}, {"7"}, {"1 s", Paint::none, "1s"}, {"qemu"}, {"a b"}},
     {{"told below"}}},
    {{{"x"}, {"drifted"}, {"1234"}, {""}, {"qemu"}, {""}}, {}}};

Style columns(std::size_t width) {
  Style style;
  style.width = width;
  return style;
}

TEST(Table, IsWholeInAPipe) {
  auto rows = kRows;
  rows[0].below.clear();
  EXPECT_EQ(table({}, kColumns, rows),
            "POD            STATE       N  CPU_TIME  VMM   NOTES\n"
            "default/nginx  placed      7  1s        qemu  a\\x20b\n"
            "x              drifted  1234  -         qemu  -\n");
}

TEST(Table, HasTheSameWordsInEveryRowOfAPipe) {
  auto rows = kRows;
  rows[0].below.clear();
  const auto text = table({}, kColumns, rows);
  for (const auto line : lines(text)) EXPECT_EQ(words(line).size(), kColumns.size()) << line;
}

TEST(Table, ShowsOnATerminalWhatDiffersAndWhatIsSaidBelow) {
  EXPECT_EQ(table(columns(80), kColumns, kRows),
            "POD            STATE       N  CPU TIME\n"
            "default/nginx  placed      7  1 s\n"
            "  told below\n"
            "x              drifted  1234\n");
  auto style = columns(10);
  style.wide = true;
  EXPECT_EQ(table(style, kColumns, {kRows[1]}),
            "POD  STATE       N  CPU TIME  VMM\n"
            "x    drifted  1234            qemu\n");
}

TEST(Table, LeavesColumnsOutFromTheRight) {
  EXPECT_EQ(table(columns(37), kColumns, {kRows[1]}),
            "POD  STATE       N  CPU TIME\n"
            "x    drifted  1234\n");
  EXPECT_EQ(table(columns(20), kColumns, {kRows[1]}),
            "POD  STATE       N\n"
            "x    drifted  1234\n");
  EXPECT_EQ(table(columns(14), kColumns, {kRows[1]}),
            "POD  STATE\n"
            "x    drifted\n");
}

TEST(Table, ALongFirstCellStandsOnItsOwnLine) {
  auto rows = kRows;
  rows[0].below.clear();
  rows[0].cells[0].text = "shop/" + std::string(26, 'a');
  EXPECT_EQ(table(columns(30), kColumns, rows),
            "POD           STATE       N\n"
            "shop/" +
                std::string(24, 'a') +
                "…\n"
                "              placed      7\n"
                "x             drifted  1234\n");
}

TEST(Table, NoLineIsWiderThanATerminalThatIsWideEnough) {
  auto rows = kRows;
  rows[1].cells[0].text = std::string(253, 'p');
  for (std::size_t width = 20; width < 120; ++width) {
    const auto text = table(columns(width), kColumns, rows);
    for (const auto line : lines(text)) EXPECT_LE(columns_of(line), width) << line;
  }
}

TEST(Table, HeaderStandsAlone) { EXPECT_EQ(table({}, {{"A"}, {"B"}}, {}), "A  B\n"); }

TEST(Table, ForeignTextCannotDriveTheTerminal) {
  EXPECT_EQ(table({}, {{"A"}}, {{{{"x\x1b[2J"}}, {}}}), "A\nx\\x1b[2J\n");
}

TEST(Painted, OnlyWithColour) {
  Style style;
  EXPECT_EQ(painted(style, Paint::bad, "x"), "x");
  style.color = true;
  EXPECT_EQ(painted(style, Paint::bad, "x"), "\x1b[31mx\x1b[0m");
  EXPECT_EQ(painted(style, Paint::none, "x"), "x");
}

TEST(Table, ColourDoesNotChangeTheLayout) {
  auto style = columns(80);
  auto rows = kRows;
  for (auto& cell : rows[0].cells) cell.paint = Paint::bad;
  const auto plain = table(style, kColumns, rows);
  style.color = true;
  auto text = table(style, kColumns, rows);
  for (const auto* code : {"\x1b[0m", "\x1b[1m", "\x1b[31m"})
    for (auto at = text.find(code); at != std::string::npos; at = text.find(code))
      text.erase(at, std::string_view(code).size());
  EXPECT_EQ(text, plain);
}

TEST(Paragraph, BreaksBetweenWords) {
  const Cell text{"one two three /a/very/long/path four", Paint::none, ""};
  EXPECT_EQ(paragraph(columns(12), 2, text),
            "  one two\n"
            "  three\n"
            "  /a/very/long/path\n"
            "  four\n");
  EXPECT_EQ(paragraph({}, 1, text), " one two three /a/very/long/path four\n");
}

TEST(Table, WhatDoesNotFitGoesOnBelowItself) {
  EXPECT_EQ(hanging(columns(20), "  key  ", {"one two three four"}),
            "  key  one two three\n"
            "       four\n");
  EXPECT_EQ(hanging(columns(20), "é: ", {"one two three four"}), "é: one two three\n   four\n");
  EXPECT_EQ(hanging(columns(20), "key", {""}), "key\n");
  EXPECT_EQ(hanging({}, "key ", {"one two three four five"}), "key one two three four five\n");
}

TEST(Table, ReadyLinesBreakBelowTheirTextOrTheirSecondColumn) {
  const std::string text =
      "short\n"
      "  indented, and too long\n"
      "\n"
      "  -x  does this and that\n";
  EXPECT_EQ(wrapped(columns(20), text),
            "short\n"
            "  indented, and too\n"
            "  long\n"
            "\n"
            "  -x  does this and\n"
            "      that\n");
  EXPECT_EQ(wrapped({}, text), text);
  auto wide = columns(20);
  wide.wide = true;
  EXPECT_EQ(wrapped(wide, text), text);
}

}  // namespace
}  // namespace kcg::cgctl
