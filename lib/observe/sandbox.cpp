// SPDX-License-Identifier: Apache-2.0
#include "observe/sandbox.hpp"

#include <algorithm>
#include <chrono>

#include "kernel/keyed.hpp"
#include "observe/groups.hpp"
#include "observe/processes.hpp"
#include "oci/cgroups_path.hpp"
#include "plan/layout.hpp"

namespace kcg {

namespace {

/// Start times are in USER_HZ.
constexpr std::uint64_t kTicksPerSecond = 100;

bool carries_mark(const Observed& observed) {
  return std::any_of(observed.groups.begin(), observed.groups.end(), [&](const auto& entry) {
    return entry.second.mark == observed.inputs.id.str();
  });
}

/// Whether its end was heard or not: a job whose scope exists is over, and so are limits whose
/// scope is gone.
std::optional<PendingJob> open_job(const Observed& observed, const Record& record) {
  if (!record.pending) return std::nullopt;
  const bool made = std::any_of(observed.groups.begin(), observed.groups.end(), [&](const auto& g) {
    return g.first.path.name() == record.pending->unit;
  });
  return made == record.pending->limits ? record.pending : std::nullopt;
}

bool has(const Observed& observed, ProcessRole role) { return observed.first(role) != nullptr; }

/// Shim and VMM ended; or there is no bundle and nothing runs. Who was never known cannot be known
/// to have ended: as long as something runs in its groups, they stay whole.
bool is_gone(const Observed& observed, const Record& record) {
  if (has(observed, ProcessRole::shim) || has(observed, ProcessRole::vmm)) return false;
  const bool known = record.ended || !record.trusted.empty();
  if (!known && !observed.foreign.empty()) return false;
  const bool lived = record.ended || !record.trusted.empty() || carries_mark(observed);
  return lived || (!observed.inputs.bundle && !observed.inputs.registration);
}

/// Kata's own group that holds the leader of shim or VMM, if it is one of the known ones.
std::optional<CgroupPath> kata_group_of(const Observed& observed) {
  const auto text = observed.inputs.cgroups_path();
  const auto path = text ? parse_cgroups_path(*text) : fail(0, "unknown");
  if (!path) return std::nullopt;
  const auto known = kata_paths(observed.inputs.id, *path);
  for (const auto& kata : known)
    for (const auto& h : observed.host.hierarchies)
      if (observed.group({h.name, kata}) != nullptr) return kata;
  return known.empty() ? std::nullopt : std::optional(known.front());
}

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
    sample.members += proc.charged_memory(process.facts.key.pid).value_or(0);
  const auto* group = memory_group(observed);
  if (group == nullptr) return sample;
  const auto stat = tree.read(group->ref, "memory.stat");
  const auto anon = stat ? keyed_value(*stat, "anon") : forward(stat.error());
  const auto shmem = stat ? keyed_value(*stat, "shmem") : forward(stat.error());
  if (anon && shmem) sample.group = *anon + *shmem;
  return sample;
}

bool is_unmanaged(const Observed& observed, const ObserveContext& context) {
  // A VMM inside its shim, or elsewhere, has no process of its own.
  const auto* vmm = observed.first(ProcessRole::vmm);
  if (vmm == nullptr && vmm_started(observed)) vmm = observed.first(ProcessRole::shim);
  return context.managed_since && vmm != nullptr && vmm->facts.key.start < *context.managed_since &&
         !carries_mark(observed);
}

}  // namespace

Observed observe_sandbox(const CgroupTree& tree, ProcView& proc, const Clock& clock,
                         const Config& config, const Assembled& assembled, const Record& record,
                         const ObserveContext& context) {
  Observed observed;
  observed.host = tree.host();
  observed.inputs = assembled.inputs;
  observed.conditions = assembled.conditions;
  observed.fixed = record.fixed;
  observed.watched = record.watched;
  observed.history = record.history;
  observed.creation_recorded = context.creation_recorded;

  const auto inside = observe_groups(tree, config, record, observed);
  observed.pending = open_job(observed, record);
  observe_processes(proc, config, record, inside, observed);
  observed.kata_group = kata_group_of(observed);
  observed.proven_kata = kata_proof(observed.inputs).has_value() || !observed.processes.empty();
  observed.gone = is_gone(observed, record);
  if (observed.gone && record.ended) observed.gone_ms = ms(clock.now() - *record.ended);
  observed.unmanaged = is_unmanaged(observed, context);
  add_ages(clock, observed);
  if (charge_wanted(record, clock.now())) observed.charge = sample_charge(tree, proc, observed);
  return observed;
}

}  // namespace kcg
