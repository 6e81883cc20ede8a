// SPDX-License-Identifier: Apache-2.0
#include "identify/registrable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/text.hpp"
#include "oci/cgroups_path.hpp"

namespace kcg {

namespace {

/// "" if there is none.
std::string process_problem(const RegisteredProcess& process) {
  if (process.task.pid <= 1) return "it is the node's init";
  if (process.kernel_thread) return "it is a kernel thread";
  if (process.ours) return "it is this daemon or an ancestor of it";
  if (!process.same_pid_ns) return "it is in another pid namespace than the node's";
  if (!process.other_sandbox.empty())
    return fmt::format("it or a process below it belongs to sandbox '{}'", process.other_sandbox);
  if (process.descendants > kMostDescendants)
    return fmt::format("it has more than {} descendants: no shim or VMM has", kMostDescendants);
  return "";
}

bool within(std::string_view path, std::string_view parent) {
  return path == parent ||
         (path.starts_with(parent) && path.substr(parent.size()).starts_with('/'));
}

std::optional<std::string> path_problem(const std::string& text,
                                        const std::vector<std::string>& own_groups) {
  const auto path = parse_cgroups_path(text);
  if (!path) return fmt::format("CgroupsPath: {}", path.error().text);
  const auto shown = fmt::format("CgroupsPath '{}'", escaped(text, 256));
  if (path->full.is_root()) return shown + ": it is the root of the hierarchy";
  const auto full = path->full.str();
  for (const auto& own : own_groups)
    if (own != "/" && (within(own, full) || within(full, own)))
      return fmt::format("{}: this daemon itself runs in '{}'", shown, escaped(own, 256));
  return std::nullopt;
}

}  // namespace

std::optional<std::string> registration_problem(const Registration& registration,
                                                const RegistrationFacts& facts) {
  if (registration.cgroups_path)
    if (auto problem = path_problem(*registration.cgroups_path, facts.own_groups)) return problem;
  for (const auto& process : facts.processes)
    if (const auto problem = process_problem(process); !problem.empty())
      return fmt::format("{}: process {} cannot be a sandbox's: {}", process.key, process.task.pid,
                         problem);
  return std::nullopt;
}

bool nothing_left(const Observed& observed) {
  const auto& registration = observed.inputs.registration;
  if (!registration || (!registration->shim && !registration->vmm)) return false;
  if (observed.inputs.bundle || observed.pending) return false;
  if (!observed.processes.empty() || !observed.foreign.empty()) return false;
  return std::none_of(observed.groups.begin(), observed.groups.end(),
                      [](const auto& entry) { return entry.second.mark.has_value(); });
}

}  // namespace kcg
