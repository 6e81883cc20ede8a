// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "tools/cgctl/limits.hpp"
#include "tools/cgctl/render.hpp"
#include "tools/cgctl/resolve.hpp"
#include "tools/cgctl/text.hpp"

namespace kcg::cgctl {

namespace {

/// Value: an event, and whose it is.
struct Told {
  const SandboxHistory* history;
  const SandboxEvent* event;
};

std::vector<Told> newest_first(const std::vector<const SandboxHistory*>& histories) {
  std::vector<Told> all;
  for (const auto* history : histories)
    for (auto it = history->events.rbegin(); it != history->events.rend(); ++it)
      all.push_back({history, &*it});
  std::stable_sort(all.begin(), all.end(),
                   [](const Told& a, const Told& b) { return a.event->last > b.event->last; });
  return all;
}

bool is_change(const SandboxEvent& event) {
  return event.kind == EventKind::repaired || event.kind == EventKind::limit_changed;
}

std::string place_text(const SandboxHistory& history, const std::string& group) {
  if (group == history.sandbox_cgroup) return "the sandbox's group";
  return short_path(view_of(history), group);
}

std::string what_text(const Told& told) {
  const auto& event = *told.event;
  if (!is_change(event))
    return fmt::format("{}{}{}", name(event.kind), event.subject.empty() ? "" : " ", event.subject);
  const auto* what = event.kind == EventKind::repaired ? "repaired" : "changed";
  if (event.subject.empty()) return fmt::format("{} a thread's place", what);
  return fmt::format("{} {} of {}", what, event.subject, place_text(*told.history, event.group));
}

std::string value_text(const Style& style, const SandboxEvent& event, const std::string& value) {
  const auto text = style.raw ? std::nullopt : limit_text(event.subject, value);
  return text.value_or(value.empty() ? "''" : value);
}

std::string details(const Style& style, const Told& told) {
  const auto& event = *told.event;
  if (!is_change(event)) return with_short_paths(style, view_of(*told.history), event.text);
  if (event.subject.empty())
    return fmt::format("thread {} is back in {}: it was in {}", event.to,
                       place_text(*told.history, event.group),
                       place_text(*told.history, event.from));
  return fmt::format("{} -> {}{}", value_text(style, event, event.from),
                     value_text(style, event, event.to),
                     event.kind == EventKind::repaired ? " (somebody else had changed it)" : "");
}

Row row_of(const Style& style, const Told& told, bool with_pod) {
  const auto& event = *told.event;
  const auto text = details(style, told);
  Row row;
  if (with_pod) row.cells.push_back({title(view_of(*told.history))});
  const Cell age{age_text(style.now - event.last), Paint::none, rfc3339(event.last)};
  if (!with_pod) row.cells.push_back(age);
  row.cells.push_back({what_text(told), paint_of(event), ""});
  if (with_pod) row.cells.push_back(age);
  row.cells.push_back({fmt::format("{}", event.times)});
  row.cells.push_back({text});
  if (style.width && !text.empty()) row.below.push_back({text, Paint::faint, ""});
  return row;
}

std::string table_of(const Style& style, const std::vector<Told>& all, bool with_pod) {
  const Column age{"AGE", Align::right};
  const Column times{"TIMES", Align::right};
  const Column details{"DETAILS", Align::left, Shown::in_a_pipe};
  // In the order of importance.
  const auto columns = with_pod ? std::vector<Column>{{"POD"}, {"WHAT"}, age, times, details}
                                : std::vector<Column>{age, {"WHAT"}, times, details};
  std::vector<Row> rows;
  for (const auto& told : all) rows.push_back(row_of(style, told, with_pod));
  return table(style, columns, rows);
}

/// The last thing that was bad.
const SandboxEvent* blame(const SandboxHistory& history) {
  for (auto it = history.events.rbegin(); it != history.events.rend(); ++it)
    if (it->kind == EventKind::raised && it->severity != Severity::info) return &*it;
  return nullptr;
}

std::string answer(const Style& style, const SandboxHistory& history) {
  if (history.ended == 0)
    return paragraph(
        style, 0,
        {fmt::format("It lives: cgctl show {}", title(view_of(history))), Paint::none, ""});
  const auto* event = blame(history);
  const auto ago = age_text(style.now - history.ended);
  const auto text = event == nullptr
                        ? fmt::format("It ended {} ago, and nothing was wrong.", ago)
                        : fmt::format("It ended {} ago. The last that was wrong: {} at {}.", ago,
                                      event->subject, rfc3339(event->last));
  return paragraph(style, 0, {text, event == nullptr ? Paint::good : Paint::warning, ""});
}

}  // namespace

SandboxView view_of(const SandboxHistory& history) {
  SandboxView view;
  view.id = history.id;
  view.pod_namespace = history.pod_namespace;
  view.pod_name = history.pod_name;
  view.engine = history.engine;
  view.pod_cgroup = history.pod_cgroup;
  view.sandbox_cgroup = history.sandbox_cgroup;
  view.created = history.created;
  return view;
}

Paint paint_of(const SandboxEvent& event) {
  if (event.kind == EventKind::raised) return paint_of(event.severity);
  return event.kind == EventKind::repaired ? Paint::warning : Paint::none;
}

std::string event_text(const Style& style, const SandboxHistory& history,
                       const SandboxEvent& event) {
  const Told told{&history, &event};
  const auto more = details(style, told);
  auto text = what_text(told) + (more.empty() ? "" : ": " + more);
  if (event.times > 1)
    text += fmt::format(", {} times since {}", event.times, rfc3339(event.first));
  return text;
}

std::string render_events(const Style& style, const SandboxHistory& history) {
  if (history.events.empty()) return "";
  return table_of(style, newest_first({&history}), false);
}

std::string render_all_events(const Style& style, const std::vector<SandboxHistory>& histories) {
  std::vector<const SandboxHistory*> all;
  std::size_t ended = 0;
  for (const auto& history : histories) {
    all.push_back(&history);
    ended += history.ended == 0 ? 0U : 1U;
  }
  const auto told = newest_first(all);
  if (!style.width) return table_of(style, told, true);
  if (told.empty()) return "Nothing has happened yet.\n";
  const auto whose = histories.size() == 1 ? std::string("1 sandbox")
                                           : fmt::format("{} sandboxes", histories.size());
  const auto text = fmt::format("{} of {}, of which {} ended. All about one: cgctl show POD",
                                count_text(told.size(), "event"), whose, ended);
  return table_of(style, told, true) + paragraph(style, 0, {text, Paint::none, ""});
}

std::string render_past(const Style& style, const SandboxHistory& history) {
  const auto view = view_of(history);
  const auto id = style.wide || !style.width ? history.id : history.id.substr(0, kShortId);
  std::string out = painted(style, Paint::strong, printable(title(view)));
  if (!title(view).ends_with(id)) out += "  " + printable(id);
  out += history.ended == 0 ? "" : fmt::format("  ended {}", rfc3339(history.ended));
  out += "\n";
  if (!history.pod_cgroup.empty()) out += printable(history.pod_cgroup) + "\n";
  const auto events = render_events(style, history);
  return out + "\n" + (events.empty() ? "Nothing has happened yet.\n" : events) + "\n" +
         answer(style, history);
}

const SandboxHistory* find_ended(const std::vector<SandboxHistory>& histories,
                                 const std::string& text) {
  const SandboxHistory* last = nullptr;
  for (const auto& history : histories) {
    const bool later = last == nullptr || history.ended > last->ended;
    if (history.ended != 0 && later && resolve_name({view_of(history)}, text)) last = &history;
  }
  return last;
}

}  // namespace kcg::cgctl
