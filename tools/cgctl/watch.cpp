// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/watch.hpp"

#include <nlohmann/json.hpp>

#include "base/clock.hpp"
#include "base/printable.hpp"
#include "base/utf8.hpp"
#include "show/documents.hpp"
#include "show/history_documents.hpp"
#include "tools/cgctl/events.hpp"
#include "tools/cgctl/text.hpp"

namespace kcg::cgctl {

namespace {

const char* kind_name(Event::Kind kind) {
  switch (kind) {
    case Event::Kind::added:
      return "added";
    case Event::Kind::removed:
      return "removed";
    case Event::Kind::state:
      return "state";
    case Event::Kind::happened:
      return "happened";
    case Event::Kind::daemon:
      return "daemon";
    case Event::Kind::condition:
      break;
  }
  return "condition";
}

std::string what(const Style& style, const Event& event) {
  switch (event.kind) {
    case Event::Kind::added:
      return "found";
    case Event::Kind::removed:
      return "gone";
    case Event::Kind::state:
      return event.before + " -> " + event.after;
    case Event::Kind::happened:
      return event_text(style, event.history, event.history.events.back());
    case Event::Kind::daemon:
      return event.active ? "kata-cgroupd runs" : "kata-cgroupd has gone";
    case Event::Kind::condition:
      break;
  }
  if (!event.active) return "no more: " + event.condition;
  return fmt::format("{} ({}): {}", event.condition, event.severity, event.text);
}

Paint paint(const Event& event) {
  if (event.kind == Event::Kind::state)
    return event.after == "placed" ? Paint::good : Paint::warning;
  if (event.kind == Event::Kind::daemon) return event.active ? Paint::good : Paint::bad;
  if (event.kind == Event::Kind::happened) return paint_of(event.history.events.back());
  if (event.kind != Event::Kind::condition || !event.active) return Paint::none;
  return event.severity == "error" ? Paint::bad : Paint::warning;
}

std::string as_json(const Event& event, const std::string& title, std::int64_t now) {
  nlohmann::ordered_json out;
  out["version"] = 1;
  out["time"] = rfc3339(now);
  out["event"] = kind_name(event.kind);
  if (!event.id.empty()) out["sandbox"] = valid_utf8(event.id);
  if (event.kind == Event::Kind::daemon) out["running"] = event.active;
  if (!title.empty()) out["pod"] = valid_utf8(title);
  if (event.kind == Event::Kind::state) {
    out["old_state"] = valid_utf8(event.before);
    out["new_state"] = valid_utf8(event.after);
  }
  if (event.kind == Event::Kind::condition) {
    out["condition"] = valid_utf8(event.condition);
    out["severity"] = valid_utf8(event.severity);
    out["active"] = event.active;
    out["text"] = valid_utf8(event.text);
  }
  if (event.kind == Event::Kind::happened)
    out["happened"] =
        nlohmann::ordered_json::parse(history_document({event.history}, true))["events"].back();
  return printable_json(out.dump() + "\n");
}

}  // namespace

std::string event_line(const Options& options, const Style& style, const Event& event,
                       const std::string& title, std::int64_t now) {
  if (options.json) return as_json(event, title, now);
  const auto time = rfc3339(now);
  const auto clock = time.size() > 19 ? time.substr(11, 8) : time;
  const auto known = title.empty() ? event.id.substr(0, kShortId) : title;
  const auto whose = fmt::format("{}  {}", clock, printable(known.empty() ? "-" : known));
  const Cell told{printable(what(style, event)), paint(event)};
  const auto line = fmt::format("{}  {}", whose, told.text);
  if (style.width && columns_of(line) > *style.width)
    return whose + "\n" + paragraph(style, clock.size() + 2, told);
  return fmt::format("{}  {}\n", whose, painted(style, told.paint, told.text));
}

}  // namespace kcg::cgctl
