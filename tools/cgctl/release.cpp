// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/release.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "tools/cgctl/render.hpp"
#include "tools/cgctl/resolve.hpp"
#include "tools/cgctl/text.hpp"

namespace kcg::cgctl {

namespace {

using Json = nlohmann::ordered_json;

std::string id_of(const Style& style, const SandboxView& view) {
  return style.width && !style.wide ? view.id.substr(0, kShortId) : view.id;
}

Json identity(const SandboxView& view) {
  Json out;
  out["sandbox"] = valid_utf8(view.id);
  Json pod = Json::object();
  const auto put = [&pod](const char* key, const std::string& text) {
    if (!text.empty()) pod[key] = valid_utf8(text);
  };
  put("namespace", view.pod_namespace);
  put("name", view.pod_name);
  put("uid", view.pod_uid);
  if (!pod.empty()) out["pod"] = std::move(pod);
  return out;
}

Json texts(const std::vector<std::string>& all) {
  auto list = Json::array();
  for (const auto& one : all) list.push_back(valid_utf8(one));
  return list;
}

std::string sentence(const Style& style, const std::string& text) {
  return paragraph(style, 0, {text, Paint::none, ""});
}

std::vector<std::string> empty_groups(const std::vector<HeldSandboxView>& all) {
  std::vector<std::string> paths;
  for (const auto& one : all)
    if (!inhabited(one)) paths.insert(paths.end(), one.held.groups.begin(), one.held.groups.end());
  return paths;
}

}  // namespace

bool inhabited(const HeldSandboxView& one) {
  return one.held.processes > 0 || one.held.threads > 0;
}

std::string render_held(const Style& style, const std::vector<HeldSandboxView>& all) {
  const std::vector<Column> columns = {{"POD"},
                                       {"PROCESSES", Align::right},
                                       {"THREADS", Align::right},
                                       {"ID"},
                                       {"GROUPS", Align::left, Shown::in_a_pipe}};
  std::vector<Row> rows;
  for (const auto& one : all)
    if (inhabited(one))
      rows.push_back({{{title(one.view)},
                       {fmt::format("{}", one.held.processes)},
                       {fmt::format("{}", one.held.threads)},
                       {id_of(style, one.view)},
                       {join(one.held.groups, ",")}}});
  if (!style.width) return table(style, columns, rows);
  const auto empty = empty_groups(all);
  std::string out = rows.empty() ? "" : table(style, columns, rows);
  for (const auto& path : empty) out += sentence(style, "Empty, with our mark: " + path);
  if (rows.empty())
    return out + sentence(style, empty.empty()
                                     ? "No sandbox lives in a group of ours."
                                     : "No sandbox lives in a group of ours; 'cgctl release' "
                                       "removes the empty ones.");
  return out + sentence(style, fmt::format("{} in groups of ours: they keep them, and their "
                                           "limits, until they end. To give them back: cgctl "
                                           "release",
                                           rows.size() == 1
                                               ? "1 sandbox lives"
                                               : fmt::format("{} sandboxes live", rows.size())));
}

std::string held_document(const std::vector<HeldSandboxView>& all) {
  Json top;
  top["version"] = 1;
  top["sandboxes"] = Json::array();
  for (const auto& one : all) {
    if (!inhabited(one)) continue;
    auto entry = identity(one.view);
    entry["processes"] = one.held.processes;
    entry["threads"] = one.held.threads;
    entry["groups"] = texts(one.held.groups);
    top["sandboxes"].push_back(std::move(entry));
  }
  top["empty_groups"] = texts(empty_groups(all));
  return top.dump(2) + "\n";
}

std::string render_released(const Style& style, const std::vector<ReleasedView>& all) {
  const std::vector<Column> columns = {{"POD"},
                                       {"STATE"},
                                       {"PROCESSES", Align::right},
                                       {"ID"},
                                       {"PROBLEMS", Align::left, Shown::in_a_pipe}};
  std::vector<Row> rows;
  for (const auto& one : all) {
    const bool whole = one.released.problems.empty();
    Row row{{{title(one.view)},
             whole ? Cell{"released", Paint::good} : Cell{"held", Paint::bad},
             {fmt::format("{}", one.released.processes)},
             {id_of(style, one.view)},
             {join(one.released.problems, "; ")}}};
    for (const auto& problem : one.released.problems)
      if (style.width) row.below.push_back({problem, Paint::bad});
    rows.push_back(std::move(row));
  }
  if (!style.width) return table(style, columns, rows);
  if (all.empty()) return sentence(style, "Nothing to give back: there is no group of ours.");
  const auto held =
      static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [](const ReleasedView& one) {
        return !one.released.problems.empty();
      }));
  const auto sandboxes = [](std::size_t count) {
    return fmt::format("{} sandbox{}", count, count == 1 ? "" : "es");
  };
  const auto answer = held == 0
                          ? sandboxes(all.size()) +
                                " given back: nothing of ours is left. A daemon "
                                "that enforces places them again."
                          : fmt::format(
                                "{} of {} not given back whole: put right what is said above, then "
                                "cgctl release again.",
                                held, sandboxes(all.size()));
  return table(style, columns, rows) + sentence(style, answer);
}

std::string released_document(const std::vector<ReleasedView>& all, bool one) {
  std::vector<Json> entries;
  for (const auto& each : all) {
    auto entry = identity(each.view);
    entry["released"] = each.released.problems.empty();
    entry["processes"] = each.released.processes;
    entry["steps_applied"] = each.released.steps;
    entry["problems"] = texts(each.released.problems);
    entries.push_back(std::move(entry));
  }
  Json top;
  top["version"] = 1;
  if (one && entries.size() == 1)
    top.update(entries.front());
  else
    top["sandboxes"] = std::move(entries);
  return top.dump(2) + "\n";
}

}  // namespace kcg::cgctl
