// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/doctor/checks.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/utf8.hpp"
#include "tools/cgctl/text.hpp"

namespace kcg::cgctl::doctor {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kChecks = {
    check_kernel,   check_namespaces, check_hierarchy, check_controllers,    check_libcgroup,
    check_pressure, check_debugfs,    check_inotify,   check_run_space,      check_config,
    check_bus,      check_daemon,     check_systemd,   check_process_events, check_driver,
    check_layout,   check_annotation, check_nri,       check_sandboxes};

constexpr std::size_t kVerdictColumn = 11;  ///< "not checked"
constexpr std::size_t kGap = 2;
/// Narrower terminals have the text below its check.
constexpr std::size_t kTextNeeds = 30;

std::size_t count(const std::vector<Finding>& findings, Verdict verdict) {
  return static_cast<std::size_t>(
      std::count_if(findings.begin(), findings.end(),
                    [&](const Finding& one) { return one.verdict == verdict; }));
}

const char* shown(Verdict verdict) {
  return verdict == Verdict::unchecked ? "not checked" : verdict_name(verdict);
}

Paint paint_of(Verdict verdict) {
  constexpr Paint kPaints[] = {Paint::good, Paint::warning, Paint::bad, Paint::faint};
  return kPaints[static_cast<unsigned>(verdict)];
}

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, columns_of(text)), ' ');
}

/// Text beside its head, and all its lines below each other.
std::string beside(const Style& style, const std::string& head, std::size_t indent,
                   const std::string& text) {
  auto out = paragraph(style, indent, {text, Paint::none, ""});
  return out.size() < indent ? head + "\n" : head + out.substr(indent);
}

std::string line(const Style& style, const Finding& one, std::size_t names) {
  const auto verdict = painted(style, paint_of(one.verdict), shown(one.verdict));
  const auto gap = std::string(kVerdictColumn - columns_of(shown(one.verdict)) + kGap, ' ');
  const auto name = padded(printable(one.check), names + kGap);
  const auto indent = kVerdictColumn + kGap + names + kGap;
  const bool narrow = style.width && !style.wide && *style.width < indent + kTextNeeds;
  std::string out = narrow ? fmt::format("{}{}{}\n{}", verdict, gap, printable(one.check),
                                         paragraph(style, kGap, {one.text, Paint::none, ""}))
                           : beside(style, verdict + gap + name, indent, one.text);
  if (one.remedy.empty()) return out;
  const auto arrow = std::string(style.utf8 ? "→ " : "> ");
  return out + paragraph(style, narrow ? kGap : indent, {arrow + one.remedy, Paint::strong, ""});
}

std::string answer(const Style& style, const std::vector<Finding>& findings) {
  const auto bad = count(findings, Verdict::failed), odd = count(findings, Verdict::warning);
  const auto unknown = count(findings, Verdict::unchecked);
  std::string text;
  if (bad + odd == 0) text = "Nothing is wrong";
  if (bad > 0) text += fmt::format("{} failed", bad);
  if (odd > 0) text += fmt::format("{}{}", bad > 0 ? ", " : "", count_text(odd, "warning"));
  if (unknown > 0) text += fmt::format(", {} not checked", unknown);
  const auto paint = bad > 0 ? Paint::bad : odd > 0 ? Paint::warning : Paint::good;
  return paragraph(
      style, 0, {fmt::format("{}, of {}.", text, count_text(findings.size(), "check")), paint, ""});
}

std::string as_table(const Style& style, const std::vector<Finding>& findings) {
  std::vector<Row> rows;
  for (const auto& one : findings)
    rows.push_back({{{one.check}, {verdict_name(one.verdict)}, {one.text}, {one.remedy}}});
  return table(style, {{"CHECK"}, {"RESULT"}, {"FOUND"}, {"REMEDY"}}, rows);
}

}  // namespace

const char* verdict_name(Verdict verdict) {
  static constexpr const char* kNames[] = {"ok", "warning", "failed", "unchecked"};
  return kNames[static_cast<unsigned>(verdict)];
}

Finding good(const char* check, std::string text) {
  return {check, Verdict::ok, std::move(text), ""};
}

Finding warning(const char* check, std::string text, std::string remedy) {
  return {check, Verdict::warning, std::move(text), std::move(remedy)};
}

Finding failed(const char* check, std::string text, std::string remedy) {
  return {check, Verdict::failed, std::move(text), std::move(remedy)};
}

Finding unchecked(const char* check, std::string why) {
  return {check, Verdict::unchecked, std::move(why), ""};
}

Finding unseen(const char* check, const Error& error, std::string remedy) {
  const bool forbidden = error.code == EACCES || error.code == EPERM;
  if (forbidden) return {check, Verdict::unchecked, error.text, "ask as root"};
  return failed(check, error.text, std::move(remedy));
}

std::vector<Finding> diagnose(const Facts& facts) {
  std::vector<Finding> findings;
  for (const auto check : kChecks) {
    findings.push_back(check(facts));
    if (check != check_daemon) continue;
    for (auto& part : check_parts(facts)) findings.push_back(std::move(part));
  }
  return findings;
}

bool healthy(const std::vector<Finding>& findings) {
  return count(findings, Verdict::failed) + count(findings, Verdict::warning) == 0;
}

std::string render(const Style& style, const std::vector<Finding>& findings) {
  if (!style.width) return as_table(style, findings);
  std::size_t names = 0;
  for (const auto& one : findings) names = std::max(names, columns_of(printable(one.check)));
  std::string out;
  for (const auto& one : findings) out += line(style, one, names);
  return out + answer(style, findings);
}

std::string document(const std::vector<Finding>& findings) {
  Json top;
  top["version"] = 1;
  top["healthy"] = healthy(findings);
  top["checks"] = Json::array();
  for (const auto& one : findings) {
    Json entry;
    entry["check"] = valid_utf8(one.check);
    entry["result"] = verdict_name(one.verdict);
    entry["text"] = valid_utf8(one.text);
    if (!one.remedy.empty()) entry["remedy"] = valid_utf8(one.remedy);
    top["checks"].push_back(std::move(entry));
  }
  return top.dump(2) + "\n";
}

}  // namespace kcg::cgctl::doctor
