// SPDX-License-Identifier: Apache-2.0
#include "observe/sandbox.hpp"

#include <algorithm>
#include <chrono>

#include "identify/ended.hpp"
#include "kernel/keyed.hpp"
#include "model/errnos.hpp"
#include "model/ticks.hpp"
#include "observe/group_files.hpp"
#include "observe/groups.hpp"
#include "observe/processes.hpp"
#include "oci/cgroups_path.hpp"
#include "record/scope_tries.hpp"
#include "sizing/oom.hpp"

namespace kcg {

namespace {

std::uint64_t ms(Instant time) { return static_cast<std::uint64_t>(time.count() / 1000); }

void add_ages(const Clock& clock, Observed& observed) {
  const auto* first = observed.first(ProcessRole::vmm);
  const bool vmm = first != nullptr;
  if (!vmm) first = observed.first(ProcessRole::shim);
  if (first == nullptr) return;
  const auto now_ms = ms(clock.now());
  const auto start_ms = first->facts.key.start * 1000 / kTicksPerSecond;
  const auto age_ms = now_ms > start_ms ? now_ms - start_ms : 0;
  if (vmm) observed.vmm_age_ms = age_ms;
  observed.created = clock.wall_seconds() - static_cast<std::int64_t>(age_ms / 1000);
}

/// The top group of ours that accounts memory.
const GroupState* memory_group(const Observed& observed) {
  for (const auto& [ref, group] : observed.groups)
    if (group.mark == observed.inputs.id.str() && group.file("memory.current")) return &group;
  return nullptr;
}

ChargeSample sample_charge(const CgroupTree& tree, ProcView& proc, const Observed& observed) {
  ChargeSample sample;
  for (const auto& process : observed.processes)
    sample.touched += proc.charged_memory(process.facts.key.pid).value_or(0);
  const auto* group = memory_group(observed);
  if (group == nullptr) return sample;
  const auto stat = tree.read(group->ref, "memory.stat");
  const auto anon = stat ? keyed_value(*stat, "anon") : forward(stat.error());
  const auto shmem = stat ? keyed_value(*stat, "shmem") : forward(stat.error());
  if (anon && shmem) sample.group = *anon + *shmem;
  return sample;
}

/// Whether nobody lives whom earlier looks have proven.
bool seems_over(ProcView& proc, const Record& record) {
  if (record.trusted.empty()) return record.ended.has_value();
  return std::all_of(record.trusted.begin(), record.trusted.end(), [&](const Trusted& trusted) {
    const auto stat = proc.stat(trusted.key.pid);
    if (!stat) return errnos::no_task(stat.error().code);
    return stat->key != trusted.key || stat->ending();
  });
}

Inside taken_groups(const CgroupTree& tree, const Config& config, const Record& record,
                    const ObserveContext& context, Observed& observed) {
  const auto& last = *context.last;
  observed.groups = last.groups;
  observed.only_layout = last.only_layout;
  observed.groups_since = last.groups_since;
  observed.above_since = last.above_since;
  if (!context.around_told) return inside_of(tree, observed);
  if (observed.host.unified())  // v1 tells nobody
    for (auto& [ref, group] : observed.groups) group.files.erase(kProcesses);
  return observe_groups(tree, config, record, GroupDepth::whole, &last, observed);
}

Inside groups_now(const CgroupTree& tree, const Clock& clock, const Config& config,
                  const Record& record, const ObserveContext& context, GroupDepth depth,
                  Observed& observed) {
  const auto* last = context.last;
  if (context.groups_hold && depth == GroupDepth::whole)
    return taken_groups(tree, config, record, context, observed);
  const auto now = clock.now();
  if (last != nullptr && now > last->above_since + kGroupsHold) last = nullptr;
  observed.groups_since = now;
  observed.above_since = last == nullptr ? now : last->above_since;
  return observe_groups(tree, config, record, depth, last, observed);
}

}  // namespace

Observed hearsay(const Host& host, const Assembled& assembled) {
  Observed observed;
  observed.host = host;
  observed.inputs = assembled.inputs;
  observed.cgroups_path = cgroups_path_of(assembled.inputs);
  observed.conditions = assembled.conditions;
  observed.proven_kata = proves_kata(assembled.inputs);
  return observed;
}

Observed observe_sandbox(const CgroupTree& tree, ProcView& proc, const Clock& clock,
                         const Config& config, const Assembled& assembled, const Record& record,
                         const ObserveContext& context) {
  const auto look = [&](GroupDepth depth) {
    auto observed = hearsay(tree.host(), assembled);
    observed.fixed = record.fixed;
    observed.watched = record.watched;
    observed.history = record.history;
    observed.creation_recorded = context.creation_recorded;
    observed.measured = context.measured;
    observed.near_limit = context.near_limit;
    observed.told = context.told;

    const auto inside = groups_now(tree, clock, config, record, context, depth, observed);
    observed.pending = open_job(observed, record.scope->pending);
    observed.threads_since = clock.now();
    observe_processes(proc, config, record, inside, observed);
    observed.proven_kata = observed.proven_kata || !observed.processes.empty();
    observed.gone = has_ended(observed, {record.ended.has_value(), !record.trusted.empty()});
    if (!observed.gone && record.ended) observed.history = next_life(record.history);
    if (observed.gone && record.ended) observed.gone_ms = ms(clock.now() - *record.ended);
    observed.unmanaged = left_unmanaged(observed, context.managed_since);
    add_ages(clock, observed);
    if (charge_wanted(record, clock.now())) observed.charge = sample_charge(tree, proc, observed);
    return observed;
  };
  if (seems_over(proc, record)) {
    auto observed = look(GroupDepth::ended);
    if (observed.gone) return observed;
  }
  return look(GroupDepth::whole);
}

}  // namespace kcg
