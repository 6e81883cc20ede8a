// SPDX-License-Identifier: Apache-2.0
//
// SandboxWorld: the daemon's line, and what should come of it.
#include <algorithm>

#include "apply/apply.hpp"
#include "observe/scan.hpp"
#include "plan/desired.hpp"
#include "plan/diff.hpp"
#include "support/sandbox_world.hpp"

namespace kcg::test {

namespace {

constexpr unsigned kRounds = 5;

bool creates_groups(const Plan& plan) {
  return std::any_of(plan.steps.begin(), plan.steps.end(), [](const Step& step) {
    return step.op == Op::create || step.op == Op::start_scope;
  });
}

}  // namespace

Observed SandboxWorld::observe() {
  return observe_sandbox(tree, proc, clock, scenario.config, assembled, record, context);
}

Round SandboxWorld::look() {
  Round round;
  round.observed = observe();
  round.want = desired(scenario.config, round.observed);
  round.plan = diff(round.observed, round.want);
  return round;
}

Pass SandboxWorld::pass() {
  Pass pass;
  for (unsigned number = 1; number <= kRounds; ++number) {
    Round round = look();
    round.plan = without_contested(round.plan, record, round.observed, clock.now());
    if (creates_groups(round.plan)) context.creation_recorded = true;
    round.report = apply(round.plan, tree, proc, manager);
    if (!round.plan.steps.empty()) context.creation_recorded = creation_open(round.report);
    auto folded = fold(record, round.observed, round.want, round.report, number, clock.now(),
                       clock.wall_seconds());
    record = std::move(folded.record);
    pass.follow_up = folded.follow_up;
    pass.rounds.push_back(std::move(round));
    if (!folded.follow_up.again) break;
  }
  return pass;
}

void SandboxWorld::end_jobs(bool well) {
  for (const auto& unit : well ? systemd.finish_jobs() : systemd.fail_jobs()) end_job(record, unit);
}

void SandboxWorld::restart_daemon() {
  record = Record();
  const auto marked = find_marked(tree);
  const auto it = marked.find(assembled.inputs.id);
  if (it != marked.end()) record.found_groups = it->second;
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
  if (nested()) return kata_group + "/kata-sandbox-" + id;
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
    for (const auto& [tid, told] : classes) {
      const auto cls = expected_class(tid);
      const auto now = tree.group_of(tid, h.name);
      const auto want = expected_group(cls, h);
      if (now != want)
        text += fmt::format("{} {} is in {}:{}, not in {}\n", name(cls), tid, h.name, now, want);
    }
  }
  for (const auto& [tid, groups] : stranger_groups_)
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const auto& h = tree.host().hierarchies[i].name;
      const auto now = tree.group_of(tid, h);
      if (!now.empty() && now != groups[i])
        text += fmt::format("stranger {} was moved to {}:{}\n", tid, h, now);
    }
  return text;
}

std::vector<std::string> SandboxWorld::marked_groups() const {
  std::vector<std::string> found;
  for (const auto& h : tree.host().hierarchies)
    for (const auto& path : tree.groups(h.name))
      if (tree.mark({h.name, CgroupPath::parse(path).value()}).value() == scenario.id)
        found.push_back(h.name + ":" + path);
  return found;
}

}  // namespace kcg::test
