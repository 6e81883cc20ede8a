// SPDX-License-Identifier: Apache-2.0
//
// Kata, the engine and the kubelet: whether they are configured to fit each other and us.
#include <algorithm>
#include <regex>

#include "base/text.hpp"
#include "tools/cgctl/doctor/checks.hpp"
#include "tools/cgctl/text.hpp"

namespace kcg::cgctl::doctor {

namespace {

constexpr std::string_view kKataPrefix = "io.katacontainers.config.hypervisor.";
constexpr std::string_view kField = "memory_overhead";

/// '*' and '?' alone: what containerd's patterns are made of.
bool matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() == '*')
    return matches(pattern.substr(1), text) || (!text.empty() && matches(pattern, text.substr(1)));
  const bool same = !text.empty() && (pattern.front() == '?' || pattern.front() == text.front());
  return same && matches(pattern.substr(1), text.substr(1));
}

/// Kata seeks the expression anywhere in the key's last part. One that is none allows nothing.
bool allows(const std::string& pattern) {
  try {
    return std::regex_search(std::string(kField), std::regex(pattern));
  } catch (const std::regex_error&) {
    return false;
  }
}

bool allowed(const KataConfigWords& words) {
  return std::any_of(words.annotations.begin(), words.annotations.end(), [](const auto& one) {
    const auto& patterns = one.second.patterns;
    return std::any_of(patterns.begin(), patterns.end(), allows);
  });
}

/// "<file>:<line>" of the first runtime that hands the annotation on; "": none does.
std::string handed_on(const std::vector<HandedOn>& runtimes) {
  const auto key = fmt::format("{}{}", kKataPrefix, kField);
  for (const auto& [path, runtime] : runtimes)
    for (const auto& pattern : runtime.pod_annotations)
      if (matches(pattern, key)) return fmt::format("{}:{}", path, runtime.line);
  return "";
}

std::size_t count_driver(const std::vector<SandboxView>& views, Driver driver) {
  return static_cast<std::size_t>(std::count_if(
      views.begin(), views.end(), [&](const SandboxView& view) { return view.driver == driver; }));
}

/// One that an engine starts Kata with, and that says something else than the one that is read;
/// Kata's own default is false.
const NamedKataFile* another_word(const Facts& facts, bool read) {
  const auto found = std::find_if(
      facts.named.begin(), facts.named.end(),
      [&](const NamedKataFile& file) { return (file.only ? file.only->value : false) != read; });
  return found == facts.named.end() ? nullptr : &*found;
}

/// CRI-O hands on whatever a pod has.
Finding annotation_by_crio(const char* check, const Facts& facts) {
  if (!facts.kata) return unseen(check, facts.kata.error(), "make it readable for root");
  const bool known = *facts.kata && allowed((*facts.kata)->words);
  if (known) return good(check, "CRI-O hands it on, and Kata allows it");
  return good(check, fmt::format("CRI-O hands it on, and Kata does not allow it: before a pod has "
                                 "it, add \"{}\" to enable_annotations, else it does not start",
                                 kField));
}

std::string sandboxes_text(std::size_t count) {
  return fmt::format("{} sandbox{}", count, count == 1 ? "" : "es");
}

}  // namespace

Finding check_driver(const Facts& facts) {
  constexpr const char* kCheck = "driver";
  if (!facts.sandboxes) return unchecked(kCheck, "the sandboxes are not known");
  const auto kubelet = facts.kubelet_driver.value_or("");
  const auto systemd = count_driver(*facts.sandboxes, Driver::systemd);
  const auto cgroupfs = facts.sandboxes->size() - systemd;
  const auto& config = config_or_default(facts);
  if (systemd > 0 && config.systemd_address == "none")
    return warning(kCheck,
                   fmt::format("{} of the systemd driver, and [systemd] address = \"none\"",
                               sandboxes_text(systemd)),
                   "set [systemd] address = \"system\": scopes of our own cannot be made");
  const auto crio = facts.crio.value_or(CrioConfigWords{}).cgroup_manager;
  if (!crio.empty() && !kubelet.empty() && crio != kubelet)
    return warning(kCheck, fmt::format("the kubelet's is {}, CRI-O's is {}", kubelet, crio),
                   "give the kubelet (cgroupDriver) and CRI-O (cgroup_manager) the same one");
  const bool strange =
      (kubelet == "systemd" && cgroupfs > 0) || (kubelet == "cgroupfs" && systemd > 0);
  if (strange)
    return warning(kCheck,
                   fmt::format("the kubelet's is {}, that of {} is {}", kubelet,
                               sandboxes_text(kubelet == "systemd" ? cgroupfs : systemd),
                               kubelet == "systemd" ? "cgroupfs" : "systemd"),
                   "give kubelet (cgroupDriver) and engine (containerd: SystemdCgroup, CRI-O: "
                   "cgroup_manager) the same one, and start these pods again");
  if (systemd > 0 && cgroupfs > 0)
    return warning(kCheck,
                   fmt::format("both in use: systemd by {}, cgroupfs by {}", systemd, cgroupfs),
                   "all engines of a node should have the same one");
  if (!kubelet.empty()) return good(kCheck, kubelet + " (the kubelet's configuration)");
  if (facts.sandboxes->empty()) return good(kCheck, "known with the first sandbox");
  return good(kCheck, fmt::format("{} (of all sandboxes)", systemd > 0 ? "systemd" : "cgroupfs"));
}

Finding check_layout(const Facts& facts) {
  constexpr const char* kCheck = "Kata's layout";
  if (!facts.kata) return unseen(kCheck, facts.kata.error(), "make it readable for root");
  if (!facts.config) return unchecked(kCheck, "our configuration is not valid");
  if (!*facts.kata && !facts.named.empty())
    return warning(
        kCheck,
        fmt::format("{} starts {} with {}, where [discovery] does not look",
                    facts.named.front().engine, facts.named.front().runtime,
                    facts.named.front().path),
        "name that file in [discovery] kata_config, then: systemctl restart kata-cgroupd");
  if (!*facts.kata) return good(kCheck, "no configuration of Kata's where [discovery] looks");
  const auto& kata = **facts.kata;
  const auto ours = facts.config->layout.sandbox_cgroup_only;
  const auto& theirs = kata.words.only;
  const auto place = [&] { return fmt::format("{}:{}", kata.path, theirs->line); };
  const bool read = theirs && theirs->value;
  if (const auto* other = ours ? nullptr : another_word(facts, read))
    return warning(kCheck,
                   fmt::format("sandbox_cgroup_only is {} in {}, with which {} starts {}, and {} "
                               "in {}, which is read",
                               !read, other->path, other->engine, other->runtime, read, kata.path),
                   "give both files the same value, or name the one that is used first in "
                   "[discovery] kata_config, then: systemctl restart kata-cgroupd");
  if (!theirs) return good(kCheck, fmt::format("{} leaves it at Kata's default", kata.path));
  if (ours && *ours != theirs->value)
    return warning(kCheck,
                   fmt::format("sandbox_cgroup_only is {} in {}, and {} in our {}", theirs->value,
                               place(), *ours, facts.config->where("layout.sandbox_cgroup_only")),
                   "set [layout] sandbox_cgroup_only = \"auto\", then: cgctl reload");
  return good(kCheck, fmt::format("sandbox_cgroup_only = {} ({})", theirs->value, place()));
}

Finding check_annotation(const Facts& facts) {
  constexpr const char* kCheck = "overhead annotation";
  if (!facts.containerd)
    return unseen(kCheck, facts.containerd.error(), "make it readable for root");
  const auto place = handed_on(*facts.containerd);
  const bool crio = facts.crio && !facts.crio->kata.empty();
  if (place.empty() && crio) return annotation_by_crio(kCheck, facts);
  if (place.empty() && !facts.crio)
    return unseen(kCheck, facts.crio.error(), "make it readable for root");
  if (place.empty())
    return good(kCheck, "containerd does not hand it on: without effect, and safe");
  if (!facts.kata) return unseen(kCheck, facts.kata.error(), "make it readable for root");
  if (!*facts.kata)
    return unchecked(kCheck, "containerd hands it on, and there is no configuration of Kata's");
  const auto& kata = **facts.kata;
  const auto take_out = fmt::format("take it out of pod_annotations in {}", place);
  if (!allowed(kata.words))
    return failed(kCheck,
                  fmt::format("{} hands on {}{}, and {} does not allow it: every pod that has it "
                              "fails to start",
                              place, kKataPrefix, kField, kata.path),
                  fmt::format("{}, or add \"{}\" to enable_annotations", take_out, kField));
  if (kata.words.rust)
    return warning(kCheck,
                   "runtime-rs gets it: a version that does not know it refuses each pod that has "
                   "it",
                   fmt::format("try it with one pod; if it is refused, {}", take_out));
  return good(kCheck, "containerd hands it on, and Kata allows it");
}

}  // namespace kcg::cgctl::doctor
