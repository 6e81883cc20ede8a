// SPDX-License-Identifier: Apache-2.0
//
// `plan`: the steps that would be done now.
#include "tools/cgctl/document_parts.hpp"
#include "tools/cgctl/text.hpp"

namespace kcg::cgctl {

namespace {

using document_parts::array;
using document_parts::field;
using document_parts::from_pod;
using document_parts::Json;

std::string step_details(const Style& style, const Json& one, const Json& step) {
  const auto op = field(step, "op");
  const auto old_value = field(step, "old");
  if (op == "move-thread" || op == "move-process") {
    const auto task = op == "move-thread" ? field(step, "tid") : field(step, "pid");
    const auto from =
        old_value.empty() ? "" : fmt::format(" from {}", from_pod(style, one, old_value));
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
    const auto path = from_pod(style, one, field(step, "path"));
    const auto here = hierarchy.empty() ? path : fmt::format("{} ({})", path, hierarchy);
    if (here != place) out += fmt::format("  {}\n", painted(style, Paint::faint, here));
    place = here;
    const auto details = step_details(style, one, step);
    const auto* const head = details.empty() ? "  {:>4}  {}" : "  {:>4}  {:<12}  ";
    out += hanging(style, fmt::format(fmt::runtime(head), ++number, field(step, "op")),
                   {details, Paint::none, ""});
  }
  return out;
}

std::string answer(const Style& style, const Json& one) {
  const auto count = array(one, "steps").size();
  const auto waiting = field(one, "waiting_for");
  if (!waiting.empty())
    return paragraph(style, 2,
                     {"Cannot be placed yet, waiting for: " + waiting, Paint::warning, ""});
  if (count == 0) return "  Nothing to do.\n";
  return fmt::format("  {} to do.\n", count_text(count, "step"));
}

}  // namespace

Result<std::string> render_plan(const Style& style, const std::string& document,
                                const Titles& titles) {
  const auto all = document_parts::sandboxes(document);
  if (!all) return forward(all.error());
  if (all->empty()) return "No sandbox runs here: nothing to do.\n";
  std::string out;
  for (const auto& one : *all) {
    if (!out.empty()) out += "\n";
    out += document_parts::heading(style, one, titles) + steps(style, one);
    out += document_parts::conditions(style, one) + answer(style, one);
  }
  return out;
}

Result<std::size_t> count_steps(const std::string& document) {
  const auto all = document_parts::sandboxes(document);
  if (!all) return forward(all.error());
  std::size_t count = 0;
  for (const auto& one : *all) count += array(one, "steps").size();
  return count;
}

}  // namespace kcg::cgctl
