// SPDX-License-Identifier: Apache-2.0
//
// What keys do and what a terminal shows. Pure.
#include <algorithm>

#include "base/text.hpp"
#include "tools/cgctl/text.hpp"
#include "tools/cgctl/top/model.hpp"

namespace kcg::cgctl::top {

namespace {

constexpr const char* kKeys =
    "q quit  enter show  sort: c cpu  m memory  t throttled  p pressure  n name";
constexpr const char* kKeysOfText = "q back";

Screen move(Screen screen, bool down, const std::vector<Rates>& rows) {
  if (screen.open) {
    if (down) ++screen.first;
    if (!down && screen.first > 0) --screen.first;
    return screen;
  }
  if (rows.empty()) return screen;
  auto at = selected_row(screen, rows);
  if (down && at + 1 < rows.size()) ++at;
  if (!down && at > 0) --at;
  screen.selected = rows[at].id;
  return screen;
}

Screen sorted_by(Screen screen, Order order) {
  if (!screen.open) screen.order = order;
  return screen;
}

Screen open(Screen screen, const std::vector<Rates>& rows) {
  if (screen.open || rows.empty()) return screen;
  screen.selected = rows[selected_row(screen, rows)].id;
  screen.open = true;
  screen.first = 0;
  return screen;
}

}  // namespace

std::size_t selected_row(const Screen& screen, const std::vector<Rates>& rows) {
  const auto it = std::find_if(rows.begin(), rows.end(),
                               [&](const Rates& row) { return row.id == screen.selected; });
  return it == rows.end() ? 0 : static_cast<std::size_t>(it - rows.begin());
}

Screen pressed(Screen screen, Key key, const std::vector<Rates>& rows) {
  switch (key) {
    case Key::none:
      return screen;
    case Key::up:
    case Key::down:
      return move(std::move(screen), key == Key::down, rows);
    case Key::enter:
      return open(std::move(screen), rows);
    case Key::back:
    case Key::quit:
      screen.over = !screen.open;
      screen.open = false;
      return screen;
    case Key::cpu:
      return sorted_by(std::move(screen), Order::cpu);
    case Key::memory:
      return sorted_by(std::move(screen), Order::memory);
    case Key::throttled:
      return sorted_by(std::move(screen), Order::throttled);
    case Key::pressure:
      return sorted_by(std::move(screen), Order::pressure);
    case Key::name:
      return sorted_by(std::move(screen), Order::name);
  }
  return screen;
}

Picture picture(const Style& style, const Screen& screen, const std::vector<Rates>& rows,
                std::size_t height) {
  Picture out;
  // Rows whose name has a line of its own would break the count: names are cut here.
  auto shown = rows;
  const auto names = std::max<std::size_t>(12, style.width.value_or(80) * 2 / 5);
  for (auto& row : shown) row.title = cut_end(row.title, names, style.utf8 ? "…" : "~");
  const auto text = render(style, shown);
  for (const auto line : lines(text)) out.lines.emplace_back(line);
  const auto room = height > 4 ? height - 3 : 1;  // header, sums, keys
  if (!rows.empty() && out.lines.size() == rows.size() + 2) {
    const auto at = selected_row(screen, rows);
    const auto skip = at < room ? 0 : at - room + 1;
    const auto last = std::min(rows.size(), skip + room);
    const auto begin = out.lines.begin();
    std::vector<std::string> cut = {out.lines.front()};
    cut.insert(cut.end(), begin + 1 + static_cast<std::ptrdiff_t>(skip),
               begin + 1 + static_cast<std::ptrdiff_t>(last));
    cut.push_back(out.lines.back());
    out.lines = std::move(cut);
    out.mark = 1 + at - skip;
  }
  out.lines.emplace_back(kKeys);
  return out;
}

Picture picture_of_text(const Screen& screen, const std::string& text, std::size_t height) {
  Picture out;
  const auto all = lines(text);
  const auto room = height > 1 ? height - 1 : 1;
  const auto most = all.size() > room ? all.size() - room : 0;
  const auto first = std::min(screen.first, most);
  for (auto i = first; i < all.size() && i < first + room; ++i) out.lines.emplace_back(all[i]);
  out.lines.emplace_back(kKeysOfText);
  return out;
}

}  // namespace kcg::cgctl::top
