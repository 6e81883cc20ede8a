// SPDX-License-Identifier: Apache-2.0
//
// `list` and `threads`: tables.
#include <algorithm>

#include "plan/group_members.hpp"
#include "tools/cgctl/render.hpp"
#include "tools/cgctl/text.hpp"

namespace kcg::cgctl {

namespace {

constexpr std::size_t kShortId = 12;

std::string memory_text(const SandboxView& view) {
  if (!view.memory_used && !view.memory_limit) return "";
  const auto used = view.memory_used ? bytes_text(*view.memory_used) : "?";
  return used + "/" + (view.memory_limit ? bytes_text(*view.memory_limit) : "max");
}

Severity worst(const SandboxView& view) {
  Severity severity = Severity::info;
  for (const auto& one : view.conditions)
    severity = std::max(severity, info(one.condition.condition).severity);
  return severity;
}

std::string condition_names(const SandboxView& view) {
  std::string out;
  for (const auto& one : view.conditions) {
    if (!out.empty()) out += ",";
    out += info(one.condition.condition).name;
  }
  return out;
}

std::vector<Cell> list_row(const Style& style, const SandboxView& view) {
  return {{view.id.substr(0, kShortId)},
          {pod_text(view)},
          {std::string(name(view.layout))},
          {std::string(name(view.state)), paint_of(view.state)},
          {std::string(name(view.hypervisor))},
          {fmt::format("{}", view.vcpus)},
          {memory_text(view)},
          {bytes_text(view.overhead.memory_bytes)},
          {view.created == 0 ? "" : duration_text(style.now - view.created)},
          {condition_names(view), paint_of(worst(view))}};
}

std::vector<Cell> thread_row(const ThreadView& thread) {
  const bool wrong = misplaced(thread);
  return {{fmt::format("{}", thread.tid)},
          {std::string(name(thread.cls))},
          {std::string(name(thread.by))},
          {thread.comm},
          {cpu_text(thread.cpu_usec)},
          {wrong ? "no" : "yes", wrong ? Paint::bad : Paint::good},
          {thread.group_now},
          {thread.group_wanted}};
}

}  // namespace

std::string pod_text(const SandboxView& view) {
  if (view.pod_namespace.empty()) return view.pod_name;
  return view.pod_namespace + "/" + view.pod_name;
}

Paint paint_of(SandboxState state) {
  if (state == SandboxState::placed) return Paint::good;
  return state == SandboxState::degraded ? Paint::warning : Paint::faint;
}

Paint paint_of(Severity severity) {
  if (severity == Severity::info) return Paint::none;
  return severity == Severity::warning ? Paint::warning : Paint::bad;
}

std::string render_list(const Style& style, const std::vector<SandboxView>& views) {
  const std::vector<Column> columns = {{"ID"},
                                       {"POD", Align::left, Cut::end, 6},
                                       {"LAYOUT", Align::left, Cut::end, 5},
                                       {"STATE"},
                                       {"VMM", Align::left, Cut::end, 3},
                                       {"VCPU", Align::right},
                                       {"MEMORY", Align::right},
                                       {"OVER", Align::right},
                                       {"AGE", Align::right},
                                       {"CONDITIONS", Align::left, Cut::end, 6}};
  std::vector<std::vector<Cell>> rows;
  for (const auto& view : views) rows.push_back(list_row(style, view));
  return table(style, columns, rows);
}

std::string render_ignored(const Style& style, const std::vector<SandboxView>& views) {
  const std::vector<Column> columns = {
      {"IGNORED"}, {"POD", Align::left, Cut::end, 8}, {"REASON", Align::left, Cut::end, 20}};
  std::vector<std::vector<Cell>> rows;
  for (const auto& view : views)
    rows.push_back({{view.id.substr(0, kShortId)}, {pod_text(view)}, {view.ignored}});
  return table(style, columns, rows);
}

std::string render_threads(const Style& style, const SandboxView& view) {
  const std::vector<Column> columns = {{"TID", Align::right},
                                       {"CLASS"},
                                       {"BY", Align::left, Cut::end, 4},
                                       {"NAME", Align::left, Cut::end, 8},
                                       {"CPU", Align::right},
                                       {"PLACED"},
                                       {"GROUP", Align::left, Cut::front, 12},
                                       {"WANTED", Align::left, Cut::front, 12}};
  std::vector<std::vector<Cell>> rows;
  for (const auto& thread : view.threads) rows.push_back(thread_row(thread));
  return table(style, columns, rows);
}

}  // namespace kcg::cgctl
