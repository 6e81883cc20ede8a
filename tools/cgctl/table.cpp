// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/table.hpp"

#include <algorithm>
#include <numeric>

#include "tools/cgctl/text.hpp"

namespace kcg::cgctl {

namespace {

using Widths = std::vector<std::size_t>;

std::string shown(const Cell& cell) { return cell.text.empty() ? "-" : printable(cell.text); }

Widths natural_widths(const std::vector<Column>& columns,
                      const std::vector<std::vector<Cell>>& rows) {
  Widths widths;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::size_t width = columns_of(columns[i].header);
    for (const auto& row : rows) width = std::max(width, columns_of(shown(row[i])));
    widths.push_back(width);
  }
  return widths;
}

std::size_t total(const Widths& widths, std::size_t gap) {
  return std::accumulate(widths.begin(), widths.end(), gap * (widths.size() - 1));
}

/// The column that can best spare a character; widths.size() if none can.
std::size_t widest_spare(const std::vector<Column>& columns, const Widths& widths) {
  std::size_t best = widths.size();
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (columns[i].cut == Cut::never || widths[i] <= columns[i].least) continue;
    if (best == widths.size() || widths[i] > widths[best]) best = i;
  }
  return best;
}

void shrink(const std::vector<Column>& columns, Widths& widths, std::size_t gap,
            std::size_t width) {
  while (total(widths, gap) > width) {
    const auto column = widest_spare(columns, widths);
    if (column == widths.size()) return;
    --widths[column];
  }
}

std::string cut(const Style& style, const Column& column, const std::string& text,
                std::size_t width) {
  if (column.cut == Cut::never) return text;
  const auto* const mark = style.utf8 ? "…" : "~";
  return column.cut == Cut::end ? cut_end(text, width, mark) : cut_front(text, width, mark);
}

/// One line: the last column is not padded, so that no line ends in blanks.
std::string line(const Style& style, const std::vector<Column>& columns, const Widths& widths,
                 const std::vector<Cell>& cells, std::size_t gap) {
  std::string out;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto text = cut(style, columns[i], shown(cells[i]), widths[i]);
    const std::string pad(widths[i] - std::min(widths[i], columns_of(text)), ' ');
    const bool last = i + 1 == columns.size();
    if (columns[i].align == Align::right) out += pad;
    out += painted(style, cells[i].paint, text);
    if (columns[i].align == Align::left && !last) out += pad;
    if (!last) out += std::string(gap, ' ');
  }
  return out + "\n";
}

}  // namespace

std::string painted(const Style& style, Paint paint, const std::string& text) {
  static constexpr const char* kCodes[] = {"",         "\x1b[32m", "\x1b[33m",
                                           "\x1b[31m", "\x1b[2m",  "\x1b[1m"};
  if (!style.color || paint == Paint::none) return text;
  return kCodes[static_cast<unsigned>(paint)] + text + "\x1b[0m";
}

std::string table(const Style& style, const std::vector<Column>& columns,
                  const std::vector<std::vector<Cell>>& rows) {
  Widths widths = natural_widths(columns, rows);
  std::size_t gap = 2;
  if (style.width && total(widths, gap) > *style.width) gap = 1;
  if (style.width) shrink(columns, widths, gap, *style.width);
  std::vector<Cell> headers;
  for (const auto& column : columns) headers.push_back({column.header, Paint::strong});
  std::string out = line(style, columns, widths, headers, gap);
  for (const auto& row : rows) out += line(style, columns, widths, row, gap);
  return out;
}

}  // namespace kcg::cgctl
