// SPDX-License-Identifier: Apache-2.0
#include "observe/node.hpp"

#include <map>
#include <set>

#include "cgroup/host.hpp"
#include "cgroup/kernel_tree.hpp"
#include "observe/bundle_dirs.hpp"
#include "observe/inputs.hpp"
#include "observe/kata_config.hpp"
#include "observe/sandbox.hpp"
#include "observe/scan.hpp"
#include "plan/desired.hpp"
#include "plan/diff.hpp"
#include "proc/kernel_proc.hpp"

namespace kcg {

namespace {

/// Everything that the daemon would have learned from its sources.
InputStore read_inputs(const Config& config) {
  InputStore inputs(config);
  inputs.set_kata_config(read_kata_config(config.discovery));
  for (const auto& origin : list_bundles(config.discovery))
    (void)inputs.bundle_changed(origin);  // ignored: problems come back as conditions
  for (const auto& id : inputs.ids()) (void)inputs.state_changed(id);  // ignored: likewise
  return inputs;
}

/// State and conditions as the daemon would report them after a pass without writes.
Record settled(const Record& before, const Observed& observed, const Desired& want,
               const Plan& plan, const Clock& clock) {
  Report report;
  for (const auto& step : plan.steps) {
    StepResult result;
    result.step = step;
    result.outcome = Outcome::skipped;
    report.results.push_back(std::move(result));
  }
  return fold(before, observed, want, report, 1, clock.now(), clock.wall_seconds()).record;
}

}  // namespace

Result<NodeInspection> inspect_node(const Config& config) {
  auto host = discover_host(config.cgroup);
  if (!host) return forward(host.error());
  auto tree = KernelTree::open(*host);
  if (!tree) return forward(tree.error());
  auto proc = KernelProc::open();
  if (!proc) return forward(proc.error());
  const SystemClock clock;
  const auto inputs = read_inputs(config);

  std::map<SandboxId, Record> records;
  for (const auto& id : inputs.ids()) records[id];
  for (auto& [id, pids] : find_shims(**proc))
    if (inputs.known(id)) records[id].shim_candidates = std::move(pids);
  for (auto& [id, groups] : find_marked(**tree)) records[id].found_groups = std::move(groups);

  NodeInspection node;
  node.hierarchy = host->mode;
  for (const auto& [id, record] : records) {
    const auto assembled = inputs.inputs(id);
    const auto observed = observe_sandbox(**tree, **proc, clock, config, assembled, record, {});
    if (!observed.proven_kata && record.found_groups.empty()) {
      node.ignored.push_back(ignored_view(assembled));
      continue;
    }
    auto want = desired(config, observed);
    auto plan = diff(observed, want);
    const auto after = settled(record, observed, want, plan, clock);
    std::vector<Condition> conditions;
    for (const auto& active : after.conditions) conditions.push_back(active.condition);
    auto view = make_view(observed, want, after);
    node.sandboxes.push_back(
        {std::move(view),
         {id.str(), host->mode, std::move(want), std::move(plan), std::move(conditions)}});
  }
  return node;
}

}  // namespace kcg
