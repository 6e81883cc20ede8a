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
  std::optional<std::size_t> width;  ///< columns of the terminal; nullopt: a pipe
  std::int64_t now = 0;              ///< seconds since 1970, for ages
};

enum class Paint : unsigned char { none, good, warning, bad, faint, strong };
/// `text` in a colour if the style allows it.
[[nodiscard]] std::string painted(const Style& style, Paint paint, const std::string& text);

enum class Align : unsigned char { left, right };
enum class Cut : unsigned char { never, end, front };

/// Value: one column. One that may be cut keeps at least `least` characters.
struct Column {
  std::string header;
  Align align = Align::left;
  Cut cut = Cut::never;
  std::size_t least = 0;
};

/// Value: a cell; "" is shown as "-", so that a pipe always sees the same number of words.
struct Cell {
  std::string text;
  Paint paint = Paint::none;
};

/// Header and rows, each line ended with a newline. Each row has one cell per column. Cells are
/// made printable here.
[[nodiscard]] std::string table(const Style& style, const std::vector<Column>& columns,
                                const std::vector<std::vector<Cell>>& rows);

}  // namespace kcg::cgctl
