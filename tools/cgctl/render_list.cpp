// SPDX-License-Identifier: Apache-2.0
//
// `list`: one row for each sandbox, what it suffers from below it, and the answer.
#include <algorithm>

#include "show/amiss.hpp"
#include "show/group_tree.hpp"
#include "tools/cgctl/render.hpp"
#include "tools/cgctl/resolve.hpp"
#include "tools/cgctl/text.hpp"

namespace kcg::cgctl {

namespace {

constexpr std::size_t kHandyName = 50;

Cell memory_cell(const SandboxView& view) {
  if (!view.memory_used && !view.memory_limit) return {};
  const auto& limit = view.memory_limit;
  std::string text;
  if (!limit)
    text = size_text(*view.memory_used);
  else
    text = view.memory_used ? sizes_text(*view.memory_used, *limit)
                            : fmt::format("? / {}", size_text(*limit));
  const auto used = view.memory_used ? size_text(*view.memory_used) : "?";
  const auto word = used + "/" + (limit ? size_text(*limit) : "no-limit");
  return {text, Paint::none, without_blanks(word)};
}

Cell overhead_cell(const SandboxView& view) {
  const auto declared = view.overhead.memory_bytes;
  const auto used = view.overhead_used ? size_text(*view.overhead_used) : "?";
  const bool over = view.overhead_used.value_or(0) > declared;
  return {
      view.overhead_used ? sizes_text(*view.overhead_used, declared) : "? / " + size_text(declared),
      over ? Paint::warning : Paint::none, without_blanks(used + "/" + size_text(declared))};
}

Cell cpu_cell(const SandboxView& view) {
  const auto& milli = view.cpu_milli;
  return {milli ? hundredths_text(*milli) : "?"};
}

std::string condition_names(const SandboxView& view) {
  std::string out;
  for (const auto& one : view.conditions) {
    if (!out.empty()) out += ",";
    out += info(one.condition.condition).name;
  }
  return out;
}

/// Said by no condition: what is not in its place at this moment.
bool drifted(const SandboxView& view) {
  return view.state == SandboxState::placed && !amiss(view).empty();
}

Cell state_cell(const SandboxView& view) {
  if (drifted(view)) return {"drifted", Paint::bad, ""};
  return {std::string(name(view.state)), paint_of(view.state), ""};
}

std::vector<Cell> below_row(const Style& style, const SandboxView& view) {
  std::vector<Cell> out;
  if (style.width)
    for (const auto& one : view.conditions)
      out.push_back({fmt::format("{}: {}", info(one.condition.condition).name,
                                 with_short_paths(style, view, one.condition.text)),
                     paint_of(one.condition.severity), ""});
  for (const auto& line : amiss(view))
    out.push_back({with_short_paths(style, view, line), Paint::bad, ""});
  return out;
}

Row list_row(const Style& style, const SandboxView& view) {
  const bool whole = !style.width || style.wide;
  return {{{title(view)},
           state_cell(view),
           {fmt::format("{}", view.vcpus)},
           cpu_cell(view),
           memory_cell(view),
           overhead_cell(view),
           {view.created == 0 ? "" : age_text(style.now - view.created)},
           {whole ? view.id : view.id.substr(0, kShortId)},
           {std::string(name(view.layout))},
           {std::string(name(view.hypervisor))},
           {condition_names(view)}},
          below_row(style, view)};
}

/// To be typed.
std::string handy_name(const SandboxView& view) {
  const auto name = title(view);
  return columns_of(name) > kHandyName ? view.id.substr(0, kShortId) : name;
}

const std::vector<Column>& list_columns() {
  static const std::vector<Column> kColumns = {{"POD"},
                                               {"STATE"},
                                               {"VCPU", Align::right},
                                               {"CPU", Align::right},
                                               {"MEMORY"},
                                               {"OVERHEAD"},
                                               {"AGE", Align::right},
                                               {"ID"},
                                               {"LAYOUT", Align::left, Shown::where_it_differs},
                                               {"VMM", Align::left, Shown::where_it_differs},
                                               {"CONDITIONS", Align::left, Shown::in_a_pipe}};
  return kColumns;
}

}  // namespace

Paint paint_of(SandboxState state) {
  if (state == SandboxState::placed) return Paint::good;
  return state == SandboxState::degraded ? Paint::warning : Paint::faint;
}

Paint paint_of(Severity severity) {
  if (severity == Severity::info) return Paint::none;
  return severity == Severity::warning ? Paint::warning : Paint::bad;
}

std::string render_list(const Style& style, const std::vector<SandboxView>& views) {
  if (style.width && views.empty()) return "";
  std::vector<Row> rows;
  for (const auto& view : views) rows.push_back(list_row(style, view));
  return table(style, list_columns(), rows);
}

std::string render_answer(const Style& style, const std::vector<SandboxView>& views,
                          std::size_t all, const std::string& daemon) {
  if (!style.width) return "";
  const SandboxView* first = nullptr;
  std::size_t bad = 0;
  for (const auto& view : views) {
    if (!failing(view)) continue;
    if (first == nullptr) first = &view;
    ++bad;
  }
  const auto count = all == 1 ? "1 sandbox" : fmt::format("{} sandboxes", all);
  if (all == 0) return "No sandbox runs here.\n";
  if (bad == 0) {
    const auto words = all == 1 ? "1 sandbox, it is as wanted" : count + ", all as wanted";
    const auto whose = daemon.empty() ? "" : fmt::format(" ({})", daemon);
    return paragraph(style, 0, {fmt::format("{}{}.", words, whose), Paint::good, ""});
  }
  const auto look = fmt::format("{}, {} need{} a look: cgctl show {}", count, bad,
                                bad == 1 ? "s" : "", handy_name(*first));
  return paragraph(style, 0, {look, Paint::warning, ""});
}

std::string render_ignored(const Style& style, const std::vector<SandboxView>& views) {
  const std::vector<Column> columns = {{"IGNORED"}, {"ID"}};
  std::vector<Row> rows;
  for (const auto& view : views) {
    const auto id = style.width && !style.wide ? view.id.substr(0, kShortId) : view.id;
    rows.push_back({{{title(view)}, {id}}, {{view.ignored, Paint::faint, ""}}});
  }
  return table(style, columns, rows);
}

}  // namespace kcg::cgctl
