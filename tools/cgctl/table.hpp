// SPDX-License-Identifier: Apache-2.0
//
// Tables: whole and stable in a pipe, fitted to the width of a terminal. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kcg::cgctl {

/// Value: how output may look. Default: a pipe.
struct Style {
  bool color = false;
  bool utf8 = true;                  ///< lines may be drawn with box characters
  bool wide = false;                 ///< all columns, though they do not fit
  bool raw = false;                  ///< the kernel's keys and values, too
  std::optional<std::size_t> width;  ///< columns of the terminal; nullopt: a pipe
  std::int64_t now = 0;              ///< seconds since 1970, for ages
};

enum class Paint : unsigned char { none, good, warning, bad, faint, strong };
/// `text` in a colour if the style allows it.
[[nodiscard]] std::string painted(const Style& style, Paint paint, const std::string& text);

enum class Align : unsigned char { left, right };
/// When a column is shown: always, where its cells differ (or with --wide, or in a pipe), or in a
/// pipe only, because on a terminal the lines below a row say it.
enum class Shown : unsigned char { always, where_it_differs, in_a_pipe };

/// Value: one column.
struct Column {
  std::string header;
  Align align = Align::left;
  Shown shown = Shown::always;
};

/// Value: a cell; "" is shown as "-" in a pipe.
struct Cell {
  std::string text;
  Paint paint = Paint::none;
  std::string word = {};  ///< what a pipe shows instead; "": the text
};

/// Value: one row, and what is said below it on lines of their own.
struct Row {
  std::vector<Cell> cells;
  std::vector<Cell> below = {};
};

/// Header and rows, each line ended with a newline. Each row has one cell per column, in the order
/// of importance. Cells are made printable here.
///
/// In a pipe every column is there, nothing is cut, and each line has the same number of words: a
/// blank within a cell is written "\x20". On a terminal columns are left out from the right until
/// the lines fit; the first two stay. A first cell that is much longer than a line can spare stands
/// on a line of its own.
[[nodiscard]] std::string table(const Style& style, const std::vector<Column>& columns,
                                const std::vector<Row>& rows);

/// `text`, made printable, as indented lines that break between words where the terminal ends; one
/// line in a pipe.
[[nodiscard]] std::string paragraph(const Style& style, std::size_t indent, const Cell& text);

/// The same behind `head`: what does not fit beside it goes on below itself.
[[nodiscard]] std::string hanging(const Style& style, const std::string& head, const Cell& text);

/// Ready lines: one that is too long breaks between words and goes on below its text, or below its
/// second column if it has two.
[[nodiscard]] std::string wrapped(const Style& style, const std::string& text);

}  // namespace kcg::cgctl
