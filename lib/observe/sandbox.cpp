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
#include "observe/quotas.hpp"
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

/// One look, in one of its depths.
class Look final {
 public:
  Look(const CgroupTree& tree, ProcView& proc, const Clock& clock, const Config& config,
       const Assembled& assembled, const Record& record, const ObserveContext& context)
      : tree_(tree),
        proc_(proc),
        clock_(clock),
        config_(config),
        assembled_(assembled),
        record_(record),
        context_(context) {}

  Observed at(GroupDepth depth) {
    auto observed = known();
    const auto inside = groups(depth, observed);
    observed.threads_since = clock_.now();
    observe_processes(proc_, config_, record_, inside, observed);
    conclude(observed);
    return observed;
  }

  /// nullopt: they are not all that is to be looked at.
  std::optional<Observed> at_threads() {
    auto observed = known();
    if (observed.conditions != context_.last->conditions) return std::nullopt;
    take_groups(observed);
    observed.threads_since = context_.threads->since;
    observed.threads_alone = true;
    if (!observe_threads(proc_, *context_.last, *context_.threads, observed)) return std::nullopt;
    conclude(observed);
    return observed;
  }

 private:
  /// Without a look.
  [[nodiscard]] Observed known() const {
    auto observed = hearsay(tree_.host(), assembled_);
    observed.fixed = record_.fixed;
    observed.watched = record_.watched;
    observed.history = record_.history;
    observed.creation_recorded = context_.creation_recorded;
    observed.measured = context_.measured;
    observed.near_limit = context_.near_limit;
    observed.told = context_.told;
    return observed;
  }

  void take_groups(Observed& observed) const {
    const auto& last = *context_.last;
    observed.groups = last.groups;
    observed.only_layout = last.only_layout;
    observed.groups_since = last.groups_since;
    observed.above_since = last.above_since;
  }

  Inside taken_groups(Observed& observed) const {
    take_groups(observed);
    read_quotas_again(tree_, observed);
    if (!context_.around_told) return inside_of(tree_, observed);
    if (observed.host.unified())  // v1 tells nobody
      for (auto& [ref, group] : observed.groups) group.files.erase(kProcesses);
    return observe_groups(tree_, config_, record_, GroupDepth::whole, context_.last, observed);
  }

  Inside groups(GroupDepth depth, Observed& observed) const {
    const auto* last = context_.last;
    if (context_.groups_hold && depth == GroupDepth::whole) return taken_groups(observed);
    const auto now = clock_.now();
    if (last != nullptr && now > last->above_since + kGroupsHold) last = nullptr;
    observed.groups_since = now;
    observed.above_since = last == nullptr ? now : last->above_since;
    return observe_groups(tree_, config_, record_, depth, last, observed);
  }

  void conclude(Observed& observed) {
    observed.pending = open_job(observed, record_.scope->pending);
    observed.proven_kata = observed.proven_kata || !observed.processes.empty();
    observed.gone = has_ended(observed, {record_.ended.has_value(), !record_.trusted.empty()});
    if (!observed.gone && record_.ended) observed.history = next_life(record_.history);
    if (observed.gone && record_.ended) observed.gone_ms = ms(clock_.now() - *record_.ended);
    observed.unmanaged = left_unmanaged(observed, context_.managed_since);
    add_ages(clock_, observed);
    if (charge_wanted(record_, clock_.now()))
      observed.charge = sample_charge(tree_, proc_, observed);
  }

  const CgroupTree& tree_;
  ProcView& proc_;
  const Clock& clock_;
  const Config& config_;
  const Assembled& assembled_;
  const Record& record_;
  const ObserveContext& context_;
};

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
  Look look(tree, proc, clock, config, assembled, record, context);
  if (context.threads != nullptr)
    if (auto observed = look.at_threads()) return *std::move(observed);
  if (seems_over(proc, record)) {
    auto observed = look.at(GroupDepth::ended);
    if (observed.gone) return observed;
  }
  return look.at(GroupDepth::whole);
}

}  // namespace kcg
