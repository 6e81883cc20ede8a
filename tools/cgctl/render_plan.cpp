// SPDX-License-Identifier: Apache-2.0
//
// `plan` and `explain`: drawn from their JSON documents, because that is what the daemon sends.
#include <nlohmann/json.hpp>

#include "tools/cgctl/render.hpp"
#include "tools/cgctl/text.hpp"

namespace kcg::cgctl {

namespace {

using Json = nlohmann::ordered_json;

/// A field as text; "" if it is missing.
std::string field(const Json& object, const char* key) {
  const auto it = object.find(key);
  if (it == object.end() || it->is_null()) return "";
  return printable(it->is_string() ? it->get<std::string>() : it->dump());
}

const Json& array(const Json& object, const char* key) {
  static const Json kEmpty = Json::array();
  const auto it = object.find(key);
  return it == object.end() || !it->is_array() ? kEmpty : *it;
}

/// The sandboxes of a document of either form.
Result<std::vector<Json>> sandboxes(const std::string& document) {
  auto top = Json::parse(document, nullptr, false);
  if (!top.is_object() || top.value("version", Json()) != 1)
    return fail(0,
                "the daemon sent a document that is not of version 1; do the versions of cgctl "
                "and kata-cgroupd agree?");
  if (!top.contains("sandboxes")) return std::vector<Json>{std::move(top)};
  return array(top, "sandboxes").get<std::vector<Json>>();
}

std::string heading(const Style& style, const Json& one) {
  std::string out = painted(style, Paint::strong, "sandbox " + field(one, "sandbox"));
  out += fmt::format("\n  {} (from {}), {} driver, {}\n", field(one, "layout"),
                     field(one, "layout_source"), field(one, "driver"), field(one, "hierarchy"));
  const auto waiting = field(one, "waiting_for");
  if (!waiting.empty()) out += fmt::format("  waiting for: {}\n", waiting);
  return out;
}

Paint paint_of_severity(const std::string& severity) {
  if (severity == "error") return Paint::bad;
  return severity == "warning" ? Paint::warning : Paint::none;
}

std::string conditions(const Style& style, const Json& one) {
  std::string out;
  for (const auto& condition : array(one, "conditions")) {
    const auto severity = field(condition, "severity");
    const auto head = fmt::format("{} ({})", field(condition, "name"), severity);
    out += fmt::format("  {}: {}\n", painted(style, paint_of_severity(severity), head),
                       field(condition, "text"));
  }
  return out;
}

std::string step_details(const Json& step) {
  const auto op = field(step, "op");
  const auto old_value = field(step, "old");
  if (op == "move-thread" || op == "move-process") {
    const auto task = op == "move-thread" ? field(step, "tid") : field(step, "pid");
    const auto from = old_value.empty() ? "" : fmt::format(" from {}", old_value);
    return fmt::format("{} ({}){}", task, field(step, "class"), from);
  }
  const auto key = field(step, "key");
  const auto new_value = field(step, "new");
  if (new_value.empty()) return key;
  if (old_value.empty()) return fmt::format("{} = {}", key, new_value);
  return fmt::format("{}: {} -> {}", key, old_value, new_value);
}

/// Steps in their order, with a heading whenever the group changes.
std::string steps(const Style& style, const Json& one) {
  std::string out, place;
  std::size_t number = 0;
  for (const auto& step : array(one, "steps")) {
    const auto hierarchy = field(step, "hierarchy");
    const auto here = hierarchy.empty() ? field(step, "path")
                                        : fmt::format("{} ({})", field(step, "path"), hierarchy);
    if (here != place) out += fmt::format("  {}\n", painted(style, Paint::faint, here));
    place = here;
    auto text = fmt::format("  {:>4}  {:<12}  {}", ++number, field(step, "op"), step_details(step));
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  }
  return out.empty() ? "  nothing to do\n" : out;
}

std::string explanation(const Style& style, const Json& one) {
  std::string out = fmt::format("  {} = {}\n", painted(style, Paint::strong, field(one, "subject")),
                                field(one, "value"));
  const auto path = field(one, "path");
  if (!path.empty() && path != field(one, "value")) out += fmt::format("    group    {}\n", path);
  const auto now = field(one, "in_force");
  if (!now.empty()) out += fmt::format("    in force {}\n", now);
  const auto formula = field(one, "formula");
  if (!formula.empty()) out += fmt::format("    formula  {}\n", formula);
  for (const auto& input : array(one, "inputs"))
    out += fmt::format("    input    {} = {} ({})\n", field(input, "name"), field(input, "value"),
                       field(input, "source"));
  const auto change = field(one, "change");
  if (!change.empty()) out += fmt::format("    change   {}\n", change);
  return out;
}

}  // namespace

Result<std::string> render_plan(const Style& style, const std::string& document) {
  const auto all = sandboxes(document);
  if (!all) return forward(all.error());
  std::string out;
  for (const auto& one : *all) {
    if (!out.empty()) out += "\n";
    out += heading(style, one) + steps(style, one) + conditions(style, one);
  }
  return out;
}

Result<std::string> render_explain(const Style& style, const std::string& document) {
  const auto all = sandboxes(document);
  if (!all) return forward(all.error());
  std::string out;
  for (const auto& one : *all) {
    if (!out.empty()) out += "\n";
    out += heading(style, one);
    for (const auto& each : array(one, "explanations")) out += explanation(style, each);
    out += conditions(style, one);
  }
  return out;
}

Result<std::size_t> count_steps(const std::string& document) {
  const auto all = sandboxes(document);
  if (!all) return forward(all.error());
  std::size_t count = 0;
  for (const auto& one : *all) count += array(one, "steps").size();
  return count;
}

}  // namespace kcg::cgctl
