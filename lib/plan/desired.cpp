// SPDX-License-Identifier: Apache-2.0
#include "plan/desired.hpp"

#include <algorithm>

#include "base/amounts.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "identify/disagree.hpp"
#include "kernel/limit_text.hpp"
#include "layout/after_vmm.hpp"
#include "layout/layout.hpp"
#include "layout/scope.hpp"
#include "layout/wanted_processes.hpp"
#include "plan/explain.hpp"
#include "plan/wanted_groups.hpp"
#include "sizing/memory.hpp"
#include "sizing/oom.hpp"
#include "sizing/request.hpp"
#include "sizing/sizing.hpp"

namespace kcg {

namespace {

/// A VMM that has run this long should have shown its vCPUs; one that fills huge pages first, or
/// whose processor is emulated, takes seconds.
constexpr std::uint64_t kVcpuGraceMs = 5000;

/// Why nothing is done now; "" when all is there.
std::string reason_to_wait(const Observed& observed, const LayoutDecision& decision,
                           const std::vector<bool>& usable) {
  if (observed.assumed) return "";
  if (!observed.proven_kata) return "no proof that this is a Kata sandbox";
  if (observed.unmanaged)
    return "it ran before the daemon's first start on this boot (placement.existing = leave)";
  if (observed.processes.empty()) return "no process of it is running";
  if (decision.chosen.form != Form::plain && !vmm_started(observed))
    return "form and layout are fixed when the VMM executes";
  if (std::find(usable.begin(), usable.end(), true) == usable.end())
    return fmt::format("the pod cgroup {} does not exist", decision.path.pod.str());
  return "";
}

/// Somebody else's directory stands where ours should be.
std::optional<Condition> foreign_group(const Observed& observed,
                                       const std::vector<WantedGroup>& groups) {
  for (const auto& wanted : groups) {
    const auto* now = observed.group(wanted.ref);
    if (now == nullptr || wanted.shared) continue;
    if (now->mark == observed.inputs.id.str()) continue;
    const bool noted = observed.creation_recorded && !now->occupied;
    if (!now->mark && (wanted.katas || noted)) continue;
    if (!now->mark && scope_holds_us(observed, wanted)) continue;
    return Condition{ConditionName::write_failed,
                     fmt::format("'{}:{}' exists and does not carry our mark for this sandbox: it "
                                 "is not used, nothing is "
                                 "placed; remove it if nobody needs it",
                                 wanted.ref.hierarchy.str(), wanted.ref.path.str())};
  }
  return std::nullopt;
}

/// Nobody is moved away from device rules that cannot be carried; groups.cpp raises the condition.
bool devices_unknown(const std::vector<WantedGroup>& groups) {
  return std::any_of(groups.begin(), groups.end(), [](const WantedGroup& g) {
    return g.devices && !g.devices->unreadable.empty();
  });
}

void add_process_conditions(const Observed& observed, std::vector<Condition>& conditions) {
  for (const auto& process : observed.foreign)
    conditions.push_back({ConditionName::foreign_process,
                          fmt::format("process {} ({}) is in the sandbox's group but is not proven "
                                      "to belong to it; it is left where it is",
                                      process.facts.key.pid, escaped(process.facts.comm))});
  const auto* vmm = observed.first(ProcessRole::vmm);
  if (vmm == nullptr || observed.vmm_age_ms < kVcpuGraceMs) return;
  const bool any = std::any_of(vmm->threads.begin(), vmm->threads.end(),
                               [](const Thread& t) { return t.cls == ThreadClass::vcpu; });
  if (!any)
    conditions.push_back(
        {ConditionName::threads_unclassified,
         fmt::format("VMM {} shows no vCPU thread: neither KVM's debugfs nor thread "
                     "names tell them apart; its threads stay where they are",
                     vmm->facts.key.pid)});
}

/// What was touched before the move stays charged where it was.
std::optional<Condition> charged_elsewhere(const Observed& observed) {
  constexpr std::uint64_t kIgnored = 16 * kMib;
  constexpr std::uint64_t kIgnoredShare = 50;  // 2 %
  if (!observed.charge || !observed.charge->group) return std::nullopt;
  const auto& [touched, group] = *observed.charge;
  const auto residue = touched - std::min(touched, *group);
  const auto ram = vm_memory(observed.inputs, vm_request(observed)).value_or(0);
  if (residue <= std::max(kIgnored, ram / kIgnoredShare)) return std::nullopt;
  return Condition{
      ConditionName::charged_elsewhere,
      fmt::format("estimated: {} of {} that its processes have touched are not charged to "
                  "the sandbox's group ({}), but to where they were before; it was placed late",
                  bytes_text(residue), bytes_text(touched), bytes_text(*group))};
}

/// Nobody is to blame for a number that we made up: then it is only told.
std::optional<Condition> overhead_exceeded(const Observed& observed, const Overhead& overhead) {
  const auto& measured = observed.measured;
  if (!measured.recent || *measured.recent <= overhead.memory_bytes) return std::nullopt;
  const bool declared =
      overhead.source == OverheadSource::annotation || overhead.source == OverheadSource::pod;
  return Condition{
      ConditionName::overhead_exceeded,
      fmt::format("uses up to {} MiB beside its guest ({} MiB at most so far), {} MiB {}",
                  *measured.recent / kMib, measured.peak.value_or(0) / kMib,
                  overhead.memory_bytes / kMib, declared ? "were declared" : "are assumed"),
      declared ? Severity::warning : Severity::info};
}

/// Told while there is still time: what is beyond the limit is killed.
std::optional<Condition> memory_near_limit(const Observed& observed) {
  if (!observed.near_limit) return std::nullopt;
  const auto& [kept, limit] = *observed.near_limit;
  return Condition{ConditionName::memory_near_limit,
                   fmt::format("{} are in use without files that can be reclaimed, and {} allows "
                               "{}: the kernel kills when it has no more to give",
                               bytes_text(kept), limit.group, bytes_text(limit.bytes))};
}

/// What could not be read, for people; a crowd of it is one trouble.
Condition unread(const Observed& observed) {
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> all = observed.unread_groups;
  all.insert(all.end(), observed.unread_processes.begin(), observed.unread_processes.end());
  const auto named = std::min(all.size(), kNamed);
  const auto more = all.size() - named;
  all.resize(named);
  return {ConditionName::input_unreadable,
          fmt::format("{}{}; nothing is concluded from it, it is read again soon", join(all, "; "),
                      more == 0 ? "" : fmt::format("; and {} more", more))};
}

template <class Some>
void append(std::vector<Condition>& conditions, const Some& more) {
  conditions.insert(conditions.end(), more.begin(), more.end());
}

/// Nothing is wanted of it.
Desired of_ended(Desired want) {
  // What was killed stays killed until another VM runs under this id: next_life().
  want.history = {std::nullopt, false, std::move(want.history.oom)};
  want.act = true;
  return want;
}

/// Where it would be, it cannot be.
Desired of_nowhere(Desired want, const std::string& why) {
  want.waiting_for = why;
  want.conditions.push_back({ConditionName::bundle_unreadable, why});
  return want;
}

/// What is wrong with a sandbox that is placed, or about to be.
void add_findings(const Observed& observed, const LayoutDecision& decision,
                  const WantedGroups& groups, const Sizing& sizing, Desired& want) {
  append(want.conditions, decision.conditions);
  append(want.conditions, groups.conditions);
  append(want.conditions, sizing.conditions);
  add_process_conditions(observed, want.conditions);
  for (auto& found :
       {node_data_disagreement(observed.inputs), overhead_exceeded(observed, want.overhead),
        memory_near_limit(observed), charged_elsewhere(observed)})
    if (found) want.conditions.push_back(*found);
}

/// Why nothing is done although its processes are there; "" when all can be placed.
std::string reason_to_keep_off(const Observed& observed, Desired& want) {
  if (auto foreign = foreign_group(observed, want.groups)) {
    want.conditions.push_back(std::move(*foreign));
    return want.conditions.back().text;
  }
  if (devices_unknown(want.groups)) return "the device rules of Kata's group cannot be seen";
  return "";
}

/// Groups, limits and where each thread belongs, in a layout that is decided.
Desired in_layout(const Config& config, const Observed& observed, const LayoutDecision& decision,
                  const LayoutPaths& paths, Desired want, std::vector<Explanation>* told) {
  auto sizing =
      size(config, observed.inputs, sizing_request(observed, want.layout, want.sandbox_cgroup));
  if (sizing.memory_sum)
    want.history.largest_memory_sum =
        std::max(want.history.largest_memory_sum.value_or(0), *sizing.memory_sum);
  want.overhead = sizing.overhead;
  if (outlived_vmm(observed, decision)) {
    without_classes(config, observed, paths, want);
    return want;
  }
  const auto usable = usable_hierarchies(observed, decision, paths);
  auto groups = wanted_groups(config, observed, decision, paths, usable, sizing);
  want.groups = std::move(groups.groups);
  want.enables = std::move(groups.enables);
  if (told != nullptr)
    *told = complete_explanations(config, observed, decision, paths, want,
                                  std::move(sizing.explanations));

  want.waiting_for = reason_to_wait(observed, decision, usable);
  if (!want.waiting_for.empty()) return want;
  add_findings(observed, decision, groups, sizing, want);
  want.processes = wanted_processes(config, observed, want.form, paths, usable);
  want.waiting_for = reason_to_keep_off(observed, want);
  want.act = want.waiting_for.empty();
  return want;
}

/// `told`: where explanations go, if somebody asks for them.
Desired decide(const Config& config, const Observed& observed,
               std::vector<Explanation>* told = nullptr) {
  Desired want;
  want.conditions = observed.conditions;
  want.history = current_history(observed);
  // Also when this was the end of it: nothing else tells why.
  if (auto killed = oom_condition(config, observed, want.history.oom))
    want.conditions.push_back(std::move(*killed));
  if (observed.gone) return of_ended(std::move(want));
  const auto decision = decide_layout(config, observed);
  if (!decision) {
    if (observed.inputs.cgroups_path()) return of_nowhere(std::move(want), decision.error().text);
    want.waiting_for = decision.error().text;
    return want;
  }
  want.layout = decision->chosen.layout;
  want.layout_source = decision->chosen.source;
  want.form = decision->chosen.form;
  want.driver = decision->path.driver;
  want.pod_cgroup = decision->path.pod;
  const auto paths = paths_in_force(config, observed, decision->path, want.form);
  if (!paths) return of_nowhere(std::move(want), paths.error().text);
  want.sandbox_cgroup = paths->sandbox;
  want.overhead_cgroup = paths->overhead.value_or(CgroupPath());
  want.ceiling = memory_ceiling(observed, paths->overhead.value_or(paths->sandbox));
  return in_layout(config, observed, *decision, *paths, std::move(want), told);
}

}  // namespace

std::vector<Explanation> explanations(const Config& config, const Observed& observed) {
  std::vector<Explanation> told;
  (void)decide(config, observed, &told);  // ignored: it is what desired() says
  return told;
}

Desired desired(const Config& config, const Observed& observed) {
  auto want = decide(config, observed);
  if (!observed.unread()) return want;
  want.conditions.push_back(unread(observed));
  // What a group holds decides what may be written, and who is left whether it goes.
  if (!observed.unread_groups.empty() || observed.gone) {
    want.act = false;
    want.waiting_for = want.conditions.back().text;
  }
  return want;
}

}  // namespace kcg
