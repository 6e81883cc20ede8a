// SPDX-License-Identifier: Apache-2.0
//
// fold(): when to look again at what is not known for sure yet.
#include <algorithm>
#include <chrono>

#include "identify/classify.hpp"
#include "model/errnos.hpp"
#include "record/fold_parts.hpp"
#include "record/outcomes.hpp"

namespace kcg::folding {

namespace {

using std::chrono::seconds;

/// By then a VMM has touched what its firmware and kernel need.
constexpr Instant kChargeDelay = seconds(5);

/// A VMM that is there and shows no vCPU.
bool vcpuless(const Observed& observed) {
  const auto* vmm = observed.first(ProcessRole::vmm);
  return vmm != nullptr && std::none_of(vmm->threads.begin(), vmm->threads.end(),
                                        [](const auto& t) { return t.cls == ThreadClass::vcpu; });
}

}  // namespace

bool any_moved(const Report& report) {
  return std::any_of(report.results.begin(), report.results.end(), [](const StepResult& result) {
    return move_of(result.step) != nullptr && result.outcome == Outcome::done;
  });
}

bool too_early(const StepResult& result) {
  const bool early = result.code == errnos::kInvalid || result.code == errnos::kUnsupported;
  return move_of(result.step) != nullptr && result.outcome == Outcome::failed && early;
}

void note_unrest(Record& record, const Observed& observed, const Report& report, unsigned round,
                 bool last_round, Instant now) {
  const auto note = [now](std::optional<Instant>& since, bool lasts) {
    if (!lasts)
      since.reset();
    else if (!since)
      since = now;
  };
  record.unrest.change([&](Unrest& unrest) {
    note(unrest.vcpuless_since, !observed.gone && vcpuless(observed));
    note(unrest.strangers_since, !observed.gone && !observed.foreign.empty());
    if (last_round) note(unrest.restless_since, round >= kRounds && any_moved(report));
  });
}

UnnamedThreads unnamed_of(const Observed& observed) {
  UnnamedThreads found;
  found.kvm_incomplete = observed.kvm_incomplete;
  found.vcpus_missing = observed.vcpus_missing;
  found.told = observed.told;
  for (const auto& process : observed.processes) {
    if (process.role != ProcessRole::vmm) continue;
    for (const auto& [facts, cls, by] : process.threads)
      found.add(facts.key, cls, by, named_vcpu(process.hypervisor, facts.comm));
  }
  return found;
}

/// Where memory is charged is looked at once, when the sandbox has been in its place for a while.
void plan_charge(Record& record, const Observed& observed, Instant now) {
  const bool runs = !observed.gone && observed.first(ProcessRole::vmm) != nullptr;
  if (!runs) {
    record.charge.due.reset();
    record.charge.seen = false;
    return;
  }
  if (observed.charge) record.charge.seen = true;
  const bool accounted =
      std::any_of(observed.groups.begin(), observed.groups.end(), [&](const auto& entry) {
        return entry.second.mark == observed.inputs.id.str() && entry.second.file("memory.current");
      });
  const bool wanted =
      record.placed_once && accounted && observed.host.unified() && !record.charge.seen;
  if (!wanted)
    record.charge.due.reset();
  else if (!record.charge.due)
    record.charge.due = now + kChargeDelay;
}

}  // namespace kcg::folding
