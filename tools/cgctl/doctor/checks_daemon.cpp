// SPDX-License-Identifier: Apache-2.0
//
// The daemon: its configuration, its links, and what it says of itself and of the sandboxes.
#include <algorithm>

#include "base/text.hpp"
#include "base/version.hpp"
#include "show/amiss.hpp"
#include "tools/cgctl/doctor/checks.hpp"
#include "tools/cgctl/text.hpp"

namespace kcg::cgctl::doctor {

namespace {

constexpr const char* kJournal = "journalctl -u kata-cgroupd -n 50";

/// What to do about a part of the daemon; its own text says what is missed.
std::string remedy_of(std::string_view part) {
  if (part == "lost events")
    return "look for what starts threads or names them without end; sandboxes are placed later";
  return std::string(kJournal) + ": it goes on by itself when the cause is gone";
}

}  // namespace

Finding check_config(const Facts& facts) {
  constexpr const char* kCheck = "configuration";
  if (!facts.config)
    return unseen(kCheck, facts.config.error(), "correct it, then: cgctl check-config");
  const auto count = facts.config->origins.by_name.size();
  return good(kCheck, count == 0 ? "valid, all at its default"
                                 : fmt::format("valid, {} set", count_text(count, "key")));
}

Finding check_bus(const Facts& facts) {
  constexpr const char* kCheck = "bus";
  if (!facts.daemon.asked) return unchecked(kCheck, "--no-daemon");
  if (facts.bus) return good(kCheck, "reached");
  return unseen(kCheck, facts.bus.error(), "systemctl start dbus, or name the bus with --bus");
}

Finding check_daemon(const Facts& facts) {
  constexpr const char* kCheck = "daemon";
  const auto& daemon = facts.daemon;
  if (!daemon.asked) return unchecked(kCheck, "--no-daemon");
  if (!facts.bus) return failed(kCheck, "cannot be asked without the bus", "");
  if (!daemon.running)
    return failed(kCheck, daemon.why_not,
                  fmt::format("systemctl enable --now kata-cgroupd; {}", kJournal));
  if (daemon.version != version())
    return warning(kCheck, fmt::format("version {} runs, cgctl is {}", daemon.version, version()),
                   "systemctl restart kata-cgroupd: no sandbox is disturbed");
  const auto mode = daemon.mode == "observe" ? "OBSERVING, nothing is written" : "enforcing";
  const auto up =
      daemon.process ? ", up " + duration_text(daemon.process->up_seconds) : std::string();
  return good(kCheck, fmt::format("{} runs, {}{}", daemon.version, mode, up));
}

std::vector<Finding> check_parts(const Facts& facts) {
  std::vector<Finding> findings;
  for (const auto& problem : facts.daemon.problems) {
    const auto end = problem.find(": ");
    const auto part = problem.substr(0, end);
    if (part == "process events") continue;  // has a check of its own
    const auto text = end == std::string::npos ? problem : problem.substr(end + 2);
    findings.push_back(warning(part.c_str(), text, remedy_of(part)));
  }
  return findings;
}

Finding check_systemd(const Facts& facts) {
  constexpr const char* kCheck = "systemd";
  const auto& config = config_or_default(facts);
  if (config.systemd_address == "none")
    return good(kCheck, "not wanted ([systemd] address = \"none\")");
  if (facts.systemd) return good(kCheck, "can be asked for scopes");
  auto finding =
      unseen(kCheck, facts.systemd.error(),
             "systemctl start dbus; [systemd] address = \"none\" where there is no systemd");
  // Only sandboxes that need a scope of ours suffer.
  if (finding.verdict == Verdict::failed) finding.verdict = Verdict::warning;
  return finding;
}

/// Without NRI nothing is wrong: less is known.
Finding check_nri(const Facts& facts) {
  constexpr const char* kCheck = "NRI";
  const auto& config = config_or_default(facts);
  if (config.nri.mode == NriMode::off) return good(kCheck, "not wanted ([nri] mode = \"off\")");
  if (!facts.daemon.running) return unchecked(kCheck, "the daemon does not run");
  const auto state = facts.daemon.parts.find("NRI");
  if (state != facts.daemon.parts.end() && state->second == "working")
    return good(kCheck, "connected to the engine");
  return {
      kCheck, Verdict::ok,
      fmt::format("no engine at {}: pods' overhead and requests are not known", config.nri.socket),
      "containerd 1.7: disable = false in [plugins.\"io.containerd.nri.v1.nri\"] of its "
      "config.toml (2.x has it on); CRI-O: enable_nri = true in [crio.nri] (on from 1.30); "
      "restart the engine"};
}

Finding check_sandboxes(const Facts& facts) {
  constexpr const char* kCheck = "sandboxes";
  if (!facts.sandboxes) return unseen(kCheck, facts.sandboxes.error(), "cgctl list tells more");
  if (!facts.daemon.running && !facts.root)
    return unchecked(kCheck, "without the daemon only root can see them");
  const auto& views = *facts.sandboxes;
  const auto bad = std::count_if(views.begin(), views.end(),
                                 [](const SandboxView& view) { return failing(view); });
  if (bad > 0)
    return failed(kCheck,
                  fmt::format("{} of {} need{} a look", bad, views.size(), bad == 1 ? "s" : ""),
                  "cgctl list --failing");
  if (views.empty()) return good(kCheck, "none runs here");
  return good(kCheck, views.size() == 1
                          ? "1, nothing is wrong with it"
                          : fmt::format("{}, nothing is wrong with them", views.size()));
}

}  // namespace kcg::cgctl::doctor
