// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/status.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "show/amiss.hpp"
#include "tools/cgctl/render.hpp"
#include "tools/cgctl/resolve.hpp"
#include "tools/cgctl/text.hpp"

namespace kcg::cgctl {

namespace {

using Json = nlohmann::ordered_json;

Json daemon_json(const DaemonState& daemon) {
  Json out;
  out["running"] = daemon.running;
  if (!daemon.mode.empty()) out["mode"] = valid_utf8(daemon.mode);
  if (!daemon.version.empty()) out["version"] = valid_utf8(daemon.version);
  return out;
}

std::map<std::string, std::size_t> by_state(const std::vector<SandboxView>& views) {
  std::map<std::string, std::size_t> count;
  for (const auto& view : views) ++count[std::string(name(view.state))];
  return count;
}

std::size_t count_failing(const std::vector<SandboxView>& views) {
  return static_cast<std::size_t>(std::count_if(
      views.begin(), views.end(), [](const SandboxView& view) { return failing(view); }));
}

std::string document(const DaemonState& daemon, const std::vector<SandboxView>& views) {
  Json top;
  top["version"] = 1;
  top["sandbox_count"] = views.size();
  top["failing_count"] = count_failing(views);
  top["states"] = by_state(views);
  top["problems"] = Json::array();
  for (const auto& problem : daemon.problems) top["problems"].push_back(valid_utf8(problem));
  if (daemon.asked) top["daemon"] = daemon_json(daemon);
  if (!daemon.hierarchy.empty()) top["hierarchy"] = valid_utf8(daemon.hierarchy);
  if (!daemon.parts.empty()) {
    auto& parts = top["parts"] = Json::object();
    for (const auto& [part, state] : daemon.parts) parts[valid_utf8(part)] = valid_utf8(state);
  }
  if (daemon.placements) {
    auto& placements = top["placements"];
    placements["count"] = daemon.placements->count;
    if (daemon.placements->count > 0) {
      placements["p50_usec"] = daemon.placements->half_usec;
      placements["p99_usec"] = daemon.placements->ninety_nine_usec;
    }
  }
  if (daemon.process) {
    auto& process = top["process"];
    process["pid"] = daemon.process->pid;
    process["up_seconds"] = daemon.process->up_seconds;
    process["cpu_usec"] = daemon.process->cpu_usec;
    process["memory_bytes"] = daemon.process->memory_bytes;
  }
  return top.dump(2) + "\n";
}

std::string mode_text(const std::string& mode) {
  return mode == "enforce"   ? "enforcing"
         : mode == "observe" ? "OBSERVING, nothing is written"
                             : mode;
}

Cell first_line(const DaemonState& daemon) {
  if (!daemon.asked) return {"kata-cgroupd was not asked; read from the kernel", Paint::faint, ""};
  if (!daemon.running) return {"kata-cgroupd does not run or answer", Paint::bad, ""};
  auto text = fmt::format("kata-cgroupd {}: {}", daemon.version, mode_text(daemon.mode));
  if (daemon.process) text += fmt::format(", up {}", duration_text(daemon.process->up_seconds));
  return {text, daemon.mode == "enforce" ? Paint::good : Paint::warning, ""};
}

std::string states_text(const std::vector<SandboxView>& views) {
  std::string out;
  for (const auto& [state, count] : by_state(views))
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count, state);
  return out.empty() ? "none" : out;
}

/// "bundles, groups working; process events: fallback".
std::string parts_text(const DaemonState& daemon) {
  std::vector<std::string> working, others;
  for (const auto& [part, state] : daemon.parts) {
    if (state == "working")
      working.push_back(part);
    else
      others.push_back(fmt::format("{}: {}", part, state));
  }
  std::vector<std::string> all;
  if (!working.empty()) all.push_back(join(working, ", ") + " working");
  if (!others.empty()) all.push_back(join(others, ", "));
  return join(all, "; ");
}

std::string placements_text(const PlacementTimes& times) {
  if (times.count == 0) return "no vCPU thread yet";
  return fmt::format("{} since the start, half of them within {}, 99 of 100 within {}",
                     count_text(times.count, "vCPU thread"), wait_text(times.half_usec),
                     wait_text(times.ninety_nine_usec));
}

/// A long value goes on below itself.
std::string detail(const Style& style, const char* name, const std::string& value) {
  return hanging(style, fmt::format("  {:<11}", name), {value, Paint::none, ""});
}

std::string details(const Style& style, const DaemonState& daemon,
                    const std::vector<SandboxView>& views) {
  std::string out = detail(style, "sandboxes", states_text(views));
  if (daemon.placements) out += detail(style, "placed", placements_text(*daemon.placements));
  if (!daemon.parts.empty()) out += detail(style, "parts", parts_text(daemon));
  if (!daemon.hierarchy.empty()) out += detail(style, "cgroups", daemon.hierarchy);
  if (const auto& self = daemon.process)
    out += detail(style, "itself",
                  fmt::format("{}, {} of CPU time, pid {}", size_text(self->memory_bytes),
                              cpu_text(self->cpu_usec), self->pid));
  return out;
}

std::string troubles(const Style& style, const DaemonState& daemon) {
  std::string out;
  if (!daemon.why_not.empty()) out += paragraph(style, 2, {daemon.why_not, Paint::bad, ""});
  for (const auto& problem : daemon.problems)
    out += paragraph(style, 2, {"! " + problem, Paint::warning, ""});
  return out;
}

std::string sandboxes_text(std::size_t all, std::size_t bad) {
  if (all == 0) return "No sandbox runs here.";
  const auto count = all == 1 ? "1 sandbox" : fmt::format("{} sandboxes", all);
  if (bad == 0)
    return fmt::format("{}, nothing is wrong with {}.", count, all == 1 ? "it" : "them");
  return fmt::format("{}, {} need{} a look: cgctl list --failing", count, bad, bad == 1 ? "s" : "");
}

/// What is wrong with the daemon itself is wrong however well its sandboxes are.
std::string daemons_text(const DaemonState& daemon) {
  if (daemon.asked && !daemon.running) return "Nobody looks after what runs here: cgctl doctor";
  return daemon.problems.empty() ? "" : "The daemon itself needs a look: cgctl doctor";
}

/// On a pipe, too: this is no table.
std::string answer_lines(const Style& style, const DaemonState& daemon,
                         const std::vector<SandboxView>& views) {
  const auto bad = count_failing(views);
  const auto own = daemons_text(daemon);
  auto lines = paragraph(style, 0,
                         {sandboxes_text(views.size(), bad),
                          bad == 0 && own.empty() ? Paint::good : Paint::warning, ""});
  if (!own.empty()) lines += paragraph(style, 0, {own, Paint::warning, ""});
  return lines;
}

}  // namespace

Answer status_answer(const Options& options, const Style& style, const DaemonState& daemon,
                     const std::vector<SandboxView>& views) {
  Answer answer;
  if (daemon.asked && !daemon.running)
    answer.exit = Exit::no_daemon;
  else if (count_failing(views) > 0 || !daemon.problems.empty())
    answer.exit = Exit::something_wrong;
  if (options.json) {
    answer.out = document(daemon, views);
    return answer;
  }
  answer.out = paragraph(style, 0, first_line(daemon)) + troubles(style, daemon);
  if (!options.brief) answer.out += details(style, daemon, views);
  answer.out += answer_lines(style, daemon, views);
  if (options.brief)
    answer.out += paragraph(
        style, 2,
        {"next: cgctl list | cgctl show POD | cgctl status | cgctl --help", Paint::faint, ""});
  return answer;
}

std::string daemon_words(const DaemonState& daemon) {
  if (!daemon.asked) return "";
  if (!daemon.running) return "no daemon runs or answers";
  const auto mode = daemon.mode == "observe" ? "observing" : mode_text(daemon.mode);
  return "daemon running, " + mode;
}

std::string with_daemon(const std::string& document, const DaemonState& daemon) {
  const auto top = Json::parse(document, nullptr, false);
  if (!daemon.asked || !top.is_object()) return document;
  Json out;
  for (const auto& [key, value] : top.items()) {
    out[key] = value;
    if (key == "version") out["daemon"] = daemon_json(daemon);
  }
  return out.dump(2) + "\n";
}

}  // namespace kcg::cgctl
