// SPDX-License-Identifier: Apache-2.0
//
// SandboxWorld: the daemon's line, and what should come of it.
#include <algorithm>

#include "observe/scan.hpp"
#include "record/scope_tries.hpp"
#include "support/allowed_places.hpp"
#include "support/sandbox_world.hpp"

namespace kcg::test {

Observed SandboxWorld::observe() { return look().observed; }

Round SandboxWorld::look() {
  return kcg::look({tree, proc, clock, manager, notes}, order(), record);
}

PassOrder SandboxWorld::order() const {
  PassOrder order{scenario.config, assembled,       context.managed_since, {},
                  failures,        context.measured};
  order.near_limit = context.near_limit;
  order.told = context.told;
  order.confirm_after = confirm_after;
  order.last = last;
  order.groups_hold = groups_hold;
  order.around_told = around_told;
  order.threads = threads;
  return order;
}

Pass SandboxWorld::pass() {
  Pass pass;
  pass.result = run_pass({tree, proc, clock, manager, notes}, order(), record,
                         [&](const Round& round) { pass.rounds.push_back(round); });
  pass.follow_up = pass.result.follow_up;
  failures = pass.result.last ? 0 : failures + 1;
  return pass;
}

void SandboxWorld::end_jobs() {
  for (const auto& unit : systemd.finish_jobs()) end_job(record, unit, "", clock.now());
}

void SandboxWorld::fail_jobs() {
  for (const auto& unit : systemd.fail_jobs())
    end_job(record, unit, "the job ended with 'failed'", clock.now());
}

void SandboxWorld::lose_jobs() {
  for (const auto& unit : systemd.fail_jobs()) end_job(record, unit, "", clock.now());
}

void SandboxWorld::restart_daemon() {
  record = Record();
  const auto marked = find_marked(tree);
  const auto it = marked.find(assembled.inputs.id);
  if (it != marked.end()) record.found_groups = FoundGroups(it->second);
}

bool SandboxWorld::legacy() const {
  const auto chosen = scenario.config.layout.sandbox_cgroup_only;
  return chosen ? !*chosen : !scenario.kata_only && !unified();
}

bool SandboxWorld::nested() const { return !legacy() && scenario.systemd && scenario.kata_only; }

std::string SandboxWorld::expected_sandbox_group() const {
  const auto& id = scenario.id;
  const auto& root = scenario.config.layout.legacy_root;
  if (legacy()) {
    if (unified()) return scenario.systemd ? "/kata.slice/kata-" + id + ".scope" : root + "/" + id;
    return pod_group + (scenario.systemd ? "/kata_cri-containerd-" : "/kata_") + id;
  }
  if (!scenario.systemd) return pod_group + "/kata-sandbox-" + id;
  if (nested()) return kata_group + "/" + name_in_scope("kata-sandbox-" + id);
  return pod_group + "/kata-sandbox-" + id + ".scope";
}

std::string SandboxWorld::expected_group(ThreadClass cls, const Hierarchy& h) const {
  const bool splits = h.unified || h.has("cpu") || h.has("cpuacct") || h.has("cpuset");
  const auto top = expected_sandbox_group();
  if (legacy() && !unified()) {
    if (cls == ThreadClass::vcpu && splits) return top;
    return scenario.config.layout.legacy_root + "/" + scenario.id;
  }
  const bool outlived = scenario.systemd && unified() && record.fixed && vmm == 0;
  if (!splits || outlived || !scenario.config.placement.thread_groups) return top;
  return top + "/" + std::string(name(cls));
}

ThreadClass SandboxWorld::expected_class(Pid tid) const {
  const auto of_vmm = tree.threads_of(vmm);
  if (std::find(of_vmm.begin(), of_vmm.end(), tid) == of_vmm.end()) return classes.at(tid);
  const bool known = std::any_of(of_vmm.begin(), of_vmm.end(), [&](Pid other) {
    const auto it = classes.find(other);
    return it != classes.end() && it->second == ThreadClass::vcpu;
  });
  return known ? classes.at(tid) : ThreadClass::vmm;
}

std::string SandboxWorld::misplaced() const {
  std::string text;
  for (const auto& h : tree.host().hierarchies) {
    // v1's cpuset is Kata's where Kata has a group there (allowed.cpp sees to it), and nobody's
    // where nothing stands above ours.
    const auto top = CgroupPath::parse(expected_sandbox_group()).value();
    const bool ours = !scenario.kata_cpuset && tree.inode({h.name, top.parent()}).has_value();
    if (!h.unified && h.has("cpuset") && !ours) continue;
    for (const auto& [tid, told] : classes) {
      const auto cls = expected_class(tid);
      const auto now = tree.group_of(tid, h.name.str());
      const auto want = expected_group(cls, h);
      if (now != want)
        text +=
            fmt::format("{} {} is in {}:{}, not in {}\n", name(cls), tid, h.name.str(), now, want);
    }
  }
  for (const auto& [tid, groups] : stranger_groups_)
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const auto& h = tree.host().hierarchies[i].name;
      const auto now = tree.group_of(tid, h.str());
      if (!now.empty() && now != groups[i])
        text += fmt::format("stranger {} was moved to {}:{}\n", tid, h.str(), now);
    }
  return text;
}

std::vector<std::string> SandboxWorld::marked_groups() const {
  std::vector<std::string> found;
  for (const auto& h : tree.host().hierarchies)
    for (const auto& path : tree.groups(h.name.str()))
      if (tree.mark({h.name, CgroupPath::parse(path).value()}).value() == Mark{scenario.id})
        found.push_back(h.name.str() + ":" + path);
  return found;
}

}  // namespace kcg::test
