// SPDX-License-Identifier: Apache-2.0
#include "plan/desired.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/units.hpp"
#include "kernel/limit_text.hpp"
#include "plan/after_vmm.hpp"
#include "plan/explain.hpp"
#include "plan/groups.hpp"
#include "plan/layout.hpp"
#include "plan/members.hpp"
#include "plan/oom.hpp"
#include "plan/scope.hpp"
#include "plan/sizing.hpp"

namespace kcg {

namespace {

/// A VMM that has run this long should have shown its vCPUs; one that fills huge pages first, or
/// whose processor is emulated, takes seconds.
constexpr std::uint64_t kVcpuGraceMs = 5000;

std::optional<std::uint64_t> number(const GroupState* group, const char* file) {
  const auto text = group == nullptr ? std::nullopt : group->file(file);
  return text ? parse_u64(*text) : std::nullopt;
}

/// Quota of one group as microseconds per 100 ms; nullopt: unlimited.
std::optional<std::uint64_t> quota_of(const GroupState* group) {
  const auto quota = number(group, "cpu.cfs_quota_us");
  const auto period = number(group, "cpu.cfs_period_us");
  if (!quota || !period || *period == 0) return std::nullopt;
  return *quota * kPeriodUs / *period;
}

/// Smallest limits among the ancestors of the sandbox group.
SizingParent parent_of(const Observed& observed, const CgroupPath& sandbox) {
  SizingParent parent;
  for (const auto& h : observed.host.hierarchies) {
    for (CgroupPath path = sandbox.parent();; path = path.parent()) {
      const auto* group = observed.group({h.name, path});
      const auto memory = number(group, h.unified ? "memory.max" : "memory.limit_in_bytes");
      if (memory && *memory < kUnlimitedMemory &&
          (!parent.smallest_memory_max || *memory < *parent.smallest_memory_max)) {
        parent.smallest_memory_max = memory;
        parent.smallest_memory_group = path.str();
      }
      const auto quota = quota_of(group);
      if (quota && (!parent.smallest_quota_us || *quota < *parent.smallest_quota_us)) {
        parent.smallest_quota_us = quota;
        parent.smallest_quota_group = path.str();
      }
      if (path.is_root()) break;
    }
    if (h.unified)
      parent.pod_weight = number(observed.group({h.name, sandbox.parent()}), "cpu.weight");
    parent.pod_group = sandbox.parent().str();
  }
  return parent;
}

/// RAM of the VM by the VMM's `-m` argument.
std::optional<std::uint64_t> vmm_memory(const Observed& observed) {
  const auto* vmm = observed.first(ProcessRole::vmm);
  if (vmm == nullptr || vmm->hypervisor != Hypervisor::qemu) return std::nullopt;
  const auto& args = vmm->facts.args;
  const auto flag = std::find(args.begin(), args.end(), "-m");
  if (flag == args.end() || flag + 1 == args.end()) return std::nullopt;
  std::string_view text = split(*(flag + 1), ',').front();
  if (!text.empty() && text.back() == 'M') text.remove_suffix(1);
  const auto mib = parse_u64(text);
  if (!mib || *mib > (std::uint64_t{1} << 40)) return std::nullopt;
  return *mib * kMib;
}

/// A pod's containers are made after its guest has booted; the container of a pod-less sandbox is
/// the sandbox itself, and Kata says when it runs.
History history_of(const Observed& observed) {
  History history = observed.history;
  const auto& inputs = observed.inputs;
  const bool runs = inputs.pod_less() && inputs.kata && inputs.kata->state == "running";
  history.container_started = history.container_started || !inputs.containers.empty() || runs;
  return history;
}

SizingRequest request_of(const Observed& observed, Layout layout, const CgroupPath& sandbox) {
  SizingRequest request;
  request.layout = layout;
  request.unified = observed.host.unified();
  request.page_size = observed.host.page_size;
  for (const auto& process : observed.processes)
    for (const auto& thread : process.threads)
      request.vcpus += thread.cls == ThreadClass::vcpu ? 1U : 0U;
  request.local_vmm = !observed.inputs.kata || observed.inputs.kata->hypervisor != "remote";
  request.vmm_memory = vmm_memory(observed);
  request.parent = parent_of(observed, sandbox);
  request.history = history_of(observed);
  return request;
}

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
    if (!now->mark && (wanted.adopt || observed.creation_recorded)) continue;
    if (!now->mark && scope_holds_us(observed, wanted)) continue;
    return Condition{ConditionName::write_failed,
                     fmt::format("'{}:{}' exists and does not carry our mark for this sandbox: it "
                                 "is not used, nothing is "
                                 "placed; remove it if nobody needs it",
                                 wanted.ref.hierarchy, wanted.ref.path.str())};
  }
  return std::nullopt;
}

/// Nobody is moved away from device rules that cannot be carried; groups.cpp raises the condition.
bool devices_unknown(const std::vector<WantedGroup>& groups) {
  return std::any_of(groups.begin(), groups.end(),
                     [](const WantedGroup& g) { return !g.devices.unreadable.empty(); });
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
                     "names tell them apart; all its threads stay in 'vmm'",
                     vmm->facts.key.pid)});
}

/// What was touched before the move stays charged where it was.
std::optional<Condition> charged_elsewhere(const Observed& observed) {
  constexpr std::uint64_t kIgnored = 16 * kMib;
  constexpr std::uint64_t kIgnoredShare = 50;  // 2 %
  if (!observed.charge || !observed.charge->group) return std::nullopt;
  const auto& [members, group] = *observed.charge;
  const auto residue = members - std::min(members, *group);
  const auto ram = vm_memory(observed.inputs, vmm_memory(observed)).value_or(0);
  if (residue <= std::max(kIgnored, ram / kIgnoredShare)) return std::nullopt;
  return Condition{
      ConditionName::charged_elsewhere,
      fmt::format("estimated: {} of {} bytes that its processes have touched are not charged to "
                  "the sandbox's group ({}), but to where they were before; it was placed late",
                  residue, members, *group)};
}

}  // namespace

Desired desired(const Config& config, const Observed& observed) {
  Desired want;
  want.conditions = observed.conditions;
  want.history = history_of(observed);
  // Also when this was the end of it: nothing else tells why.
  if (auto killed = oom_condition(config, observed, want.history.oom))
    want.conditions.push_back(std::move(*killed));
  if (observed.gone) {
    want.history = {};
    want.act = true;
    return want;
  }
  auto decision = decide_layout(config, observed);
  if (!decision) {
    want.waiting_for = decision.error().text;
    if (observed.inputs.cgroups_path())
      want.conditions.push_back({ConditionName::bundle_unreadable, decision.error().text});
    return want;
  }
  want.layout = decision->chosen.layout;
  want.layout_source = decision->chosen.source;
  want.form = decision->chosen.form;
  want.driver = decision->path.driver;
  want.pod_cgroup = decision->path.pod;
  const auto paths = layout_paths(config, observed.inputs.id, decision->path, want.form);
  if (!paths) {
    want.waiting_for = paths.error().text;
    want.conditions.push_back({ConditionName::bundle_unreadable, paths.error().text});
    return want;
  }
  want.sandbox_cgroup = paths->sandbox;
  want.overhead_cgroup = paths->overhead.value_or(CgroupPath());

  const auto sizing =
      size(config, observed.inputs, request_of(observed, want.layout, want.sandbox_cgroup));
  if (sizing.memory_sum)
    want.history.largest_memory_sum =
        std::max(want.history.largest_memory_sum.value_or(0), *sizing.memory_sum);
  want.overhead = sizing.overhead;
  if (outlived_vmm(observed, *decision)) {
    without_classes(config, observed, *paths, want);
    return want;
  }
  const auto usable = usable_hierarchies(observed, *decision, *paths);
  auto groups = wanted_groups(config, observed, *decision, *paths, usable, sizing);
  const auto append = [&want](std::vector<Condition>& more) {
    want.conditions.insert(want.conditions.end(), more.begin(), more.end());
  };
  want.groups = std::move(groups.groups);
  want.enables = std::move(groups.enables);
  want.explanations = sizing.explanations;
  complete_explanations(config, observed, *decision, *paths, want);

  want.waiting_for = reason_to_wait(observed, *decision, usable);
  if (!want.waiting_for.empty()) return want;
  append(decision->conditions);
  append(groups.conditions);
  auto sizing_conditions = sizing.conditions;
  append(sizing_conditions);
  add_process_conditions(observed, want.conditions);
  if (auto elsewhere = charged_elsewhere(observed))
    want.conditions.push_back(std::move(*elsewhere));
  want.processes = wanted_processes(config, observed, want.form, *paths, usable);
  if (auto foreign = foreign_group(observed, want.groups)) {
    want.waiting_for = foreign->text;
    want.conditions.push_back(std::move(*foreign));
    return want;
  }
  if (devices_unknown(want.groups)) {
    want.waiting_for = "the device rules of Kata's group cannot be seen";
    return want;
  }
  want.act = true;
  return want;
}

}  // namespace kcg
