// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/table.hpp"

#include <algorithm>
#include <numeric>

#include "base/text.hpp"
#include "tools/cgctl/text.hpp"

namespace kcg::cgctl {

namespace {

using Widths = std::vector<std::size_t>;

constexpr std::size_t kGap = 2;
constexpr std::size_t kLeastColumns = 2;
constexpr std::size_t kBelow = 2;  ///< how far lines below a row are indented

/// A pipe counts words.
std::string one_word(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == ' ' ? std::string("\\x20") : std::string(1, c);
  return out;
}

std::string shown(const Style& style, const Cell& cell) {
  if (style.width) return printable(cell.text);
  if (!cell.word.empty()) return one_word(printable(cell.word));
  return cell.text.empty() ? "-" : one_word(printable(cell.text));
}

bool all_equal(const std::vector<Row>& rows, std::size_t column) {
  return std::all_of(rows.begin(), rows.end(), [&](const Row& row) {
    return row.cells[column].text == rows.front().cells[column].text;
  });
}

/// Indices of the columns that this style shows if there is room for all.
std::vector<std::size_t> wanted_columns(const Style& style, const std::vector<Column>& columns,
                                        const std::vector<Row>& rows) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto when = columns[i].shown;
    const bool hidden =
        style.width && (when == Shown::in_a_pipe ||
                        (when == Shown::where_it_differs && !style.wide && all_equal(rows, i)));
    if (!hidden) out.push_back(i);
  }
  return out;
}

Widths natural_widths(const Style& style, const std::vector<Column>& columns,
                      const std::vector<Row>& rows) {
  Widths widths;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::size_t width = columns_of(columns[i].header);
    for (const auto& row : rows) width = std::max(width, columns_of(shown(style, row.cells[i])));
    widths.push_back(width);
  }
  return widths;
}

std::size_t total(const std::vector<std::size_t>& chosen, const Widths& widths) {
  return std::accumulate(chosen.begin(), chosen.end(), kGap * (chosen.size() - 1),
                         [&](std::size_t sum, std::size_t i) { return sum + widths[i]; });
}

/// Where the second of two columns begins, or the text if it has one.
std::size_t last_column(std::string_view line) {
  const auto text = line.find_first_not_of(' ');
  const auto gap = line.find("  ", std::min(text, line.size()));
  const auto second = line.find_first_not_of(' ', std::min(gap, line.size()));
  return second == std::string_view::npos ? text : second;
}

/// Lays out one table.
class Layout final {
 public:
  Layout(const Style& style, const std::vector<Column>& columns, const std::vector<Row>& rows)
      : style_(style),
        columns_(columns),
        chosen_(wanted_columns(style, columns, rows)),
        widths_(natural_widths(style, columns, rows)) {
    if (!style.width || style.wide) return;
    const auto share = std::max(columns_of(columns.front().header), *style.width * 2 / 5);
    if (total(chosen_, widths_) > *style.width) widths_[0] = std::min(widths_[0], share);
    while (chosen_.size() > kLeastColumns && total(chosen_, widths_) > *style.width)
      chosen_.pop_back();
  }

  [[nodiscard]] std::string line(const std::vector<Cell>& cells) const {
    std::string out;
    for (const auto i : chosen_) {
      const auto text = shown(style_, cells[i]);
      const auto pad = widths_[i] - std::min(widths_[i], columns_of(text));
      const bool right = columns_[i].align == Align::right;
      if (right) out.append(pad, ' ');
      out += i == 0 ? first(text, cells[i].paint) : painted(style_, cells[i].paint, text);
      if (!right) out.append(i == 0 && columns_of(text) > widths_[0] ? 0 : pad, ' ');
      out.append(kGap, ' ');
    }
    out.erase(out.find_last_not_of(' ') + 1);
    return out + "\n";
  }

 private:
  /// One that is too long has a line of its own, and is cut only where the terminal ends.
  [[nodiscard]] std::string first(const std::string& text, Paint paint) const {
    if (columns_of(text) <= widths_[0]) return painted(style_, paint, text);
    const auto whole = cut_end(text, *style_.width, style_.utf8 ? "…" : "~");
    return painted(style_, paint, whole) + "\n" + std::string(widths_[0], ' ');
  }

  const Style& style_;
  const std::vector<Column>& columns_;
  std::vector<std::size_t> chosen_;
  Widths widths_;
};

}  // namespace

std::string painted(const Style& style, Paint paint, const std::string& text) {
  static constexpr const char* kCodes[] = {"",         "\x1b[32m", "\x1b[33m",
                                           "\x1b[31m", "\x1b[2m",  "\x1b[1m"};
  if (!style.color || paint == Paint::none || text.empty()) return text;
  return kCodes[static_cast<unsigned>(paint)] + text + "\x1b[0m";
}

std::string table(const Style& style, const std::vector<Column>& columns,
                  const std::vector<Row>& rows) {
  const Layout layout(style, columns, rows);
  std::vector<Cell> headers;
  for (const auto& column : columns) {
    auto word = column.header;
    std::replace(word.begin(), word.end(), ' ', '_');
    headers.push_back({column.header, Paint::strong, word});
  }
  std::string out = layout.line(headers);
  for (const auto& row : rows) {
    out += layout.line(row.cells);
    for (const auto& text : row.below) out += paragraph(style, kBelow, text);
  }
  return out;
}

std::string paragraph(const Style& style, std::size_t indent, const Cell& text) {
  const std::string margin(indent, ' ');
  if (!style.width || style.wide)
    return margin + painted(style, text.paint, printable(text.text)) + "\n";
  std::string out, line;
  const auto flush = [&] {
    if (!line.empty()) out += margin + painted(style, text.paint, line) + "\n";
    line.clear();
  };
  const auto clean = printable(text.text);
  for (const auto word : words(clean)) {
    if (!line.empty() && indent + columns_of(line) + 1 + columns_of(word) > *style.width) flush();
    if (!line.empty()) line += " ";
    line += word;
  }
  flush();
  return out;
}

std::string hanging(const Style& style, const std::string& head, const Cell& text) {
  const auto indent = columns_of(head);
  const auto below = paragraph(style, indent, text);
  return below.empty() ? head + "\n" : head + below.substr(indent);
}

std::string wrapped(const Style& style, const std::string& text) {
  if (!style.width || style.wide) return text;
  std::string out;
  for (const auto line : lines(text)) {
    const auto at = columns_of(line) > *style.width ? last_column(line) : line.size();
    out += hanging(style, std::string(line.substr(0, at)),
                   {std::string(line.substr(at)), Paint::none, ""});
  }
  return out;
}

}  // namespace kcg::cgctl
