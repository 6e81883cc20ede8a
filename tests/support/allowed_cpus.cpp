// SPDX-License-Identifier: Apache-2.0
#include "support/allowed_cpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "kernel/cpuset.hpp"

namespace kcg::test {

namespace {

bool narrower(const std::string& old, const std::string& next, bool empty_is_all) {
  const auto before = CpuSet::parse(old);
  const auto after = CpuSet::parse(next);
  if (!before || !after) return false;
  if (before->empty()) return empty_is_all && !after->empty();
  return after->united(*before) != *after;
}

}  // namespace

/// Nobody who can be asked denies it.
bool KatasCpus::may_pin() const {
  const auto& inputs = observed_.inputs;
  static const std::set<std::string> kNo = {"0", "f", "F", "false", "FALSE", "False"};
  const auto said = inputs.bundle ? inputs.bundle->pinning_annotation : std::nullopt;
  if (said && !kNo.contains(*said)) return true;
  if (inputs.kata && inputs.kata->vcpus_pinning) return *inputs.kata->vcpus_pinning;
  return inputs.kata_config_pins ? *inputs.kata_config_pins : !said;
}

/// v1: a directory of Kata's that is not one of ours.
bool KatasCpus::kata_has_cpuset(const std::string& hierarchy,
                                const std::set<std::string>& legacy) const {
  const auto& id = observed_.inputs.id.str();
  std::vector<std::string> katas = {fmt::format("/kata_overhead/{}", id)};
  if (place_.systemd) {
    katas.push_back(place_.scope);
    katas.push_back(fmt::format("/{}", *observed_.inputs.cgroups_path()));
  } else {
    katas.push_back(place_.kata);
  }
  return std::any_of(katas.begin(), katas.end(), [&](const std::string& text) {
    const auto path = CgroupPath::parse(text);
    const auto* state = path ? observed_.group({hierarchy, *path}) : nullptr;
    return state != nullptr && !(state->mark == id && legacy.contains(text));
  });
}

bool KatasCpus::vmm_seen() const {
  const auto& kata = observed_.inputs.kata;
  return observed_.first(ProcessRole::vmm) != nullptr || observed_.fixed ||
         (kata && (kata->hypervisor == "dragonball" || kata->hypervisor == "remote"));
}

/// A thread that is, or may be, a vCPU sits in the group or below it.
bool KatasCpus::holds_vcpus(const GroupRef& group) const {
  const auto& all = observed_.host.hierarchies;
  const std::string path(group.path.str());
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const auto& process : observed_.processes)
      for (const auto& thread : process.threads) {
        const bool vmm = process.role == ProcessRole::vmm && thread.cls != ThreadClass::io;
        const bool inside = process.role == ProcessRole::shim && thread.cls == ThreadClass::vcpu;
        if ((!vmm && !inside) || all[i].name != group.hierarchy) continue;
        if (i >= thread.facts.groups.size()) continue;
        const auto& where = thread.facts.groups[i];
        if (where == path || where.rfind(path + "/", 0) == 0) return true;
      }
  return false;
}

std::string KatasCpus::verdict(const Step& step, const std::set<GroupRef>& marked, bool renews,
                               const std::set<std::string>& legacy) const {
  const auto* h = observed_.host.find(step.group.hierarchy);
  const auto* change = change_of(step);
  const bool cpus = change != nullptr && change->key == "cpuset.cpus";
  const bool narrows = cpus && narrower(change->old_value, change->new_value, h->unified);
  if (narrows && may_pin() && holds_vcpus(step.group))
    return "narrower for a thread that Kata may pin";
  if (h->unified || !h->has("cpuset") || is<op::Remove>(step)) return "";
  if (renews) return "";  // what stands there says so anew
  const bool undecided = !vmm_seen() || observed_.assumed;
  if (!undecided && !kata_has_cpuset(h->name, legacy)) return "";
  // What an earlier version left behind may be widened.
  if (is<op::Seed>(step) && marked.contains(step.group))
    return narrows ? "what was left behind is narrowed" : "";
  return undecided ? "Kata may still make a group in this cpuset tree"
                   : "this cpuset tree is left to Kata";
}

}  // namespace kcg::test
