// SPDX-License-Identifier: Apache-2.0
#include "record/vmm_end.hpp"

#include <fmt/format.h>

#include "base/clock.hpp"

namespace kcg {

namespace {

bool kata_runs_it(const Observed& observed) {
  return observed.inputs.kata && observed.inputs.kata->state == "running";
}

/// Kata has said so, or has cleaned up already.
bool orderly(const VmmLife& life, const Observed& observed) {
  const auto& kata = observed.inputs.kata;
  return kata ? kata->state == "stopped" : life.state_seen;
}

std::string text_of(const VmmLife& life, const Observed& observed, std::uint64_t kills) {
  const auto who = life.pid != 0 ? fmt::format("VMM {}", life.pid) : std::string("the VMM");
  const auto since =
      life.ended_wall != 0 ? fmt::format(" at {}", rfc3339(life.ended_wall)) : std::string();
  const auto& kata = observed.inputs.kata;
  const auto state = kata ? fmt::format("Kata's state still says '{}'", kata->state)
                          : std::string("Kata has no state of it");
  const auto oom = kills > 0 ? fmt::format(
                                   "the kernel has killed {} of its processes for lack of "
                                   "memory",
                                   kills)
                             : std::string("no kill for lack of memory is known");
  return fmt::format("{} has ended{}, its shim {} lives, and {}; {}", who, since,
                     observed.first(ProcessRole::shim)->facts.key.pid, state, oom);
}

}  // namespace

void follow_vmm(VmmLife& life, const Observed& observed, Instant now, std::int64_t wall_seconds) {
  if (observed.gone || observed.unmanaged) {
    life = VmmLife{};
    return;
  }
  life.state_seen = life.state_seen || observed.inputs.kata.has_value();
  if (const auto* vmm = observed.first(ProcessRole::vmm)) {
    life.pid = vmm->facts.key.pid;
    life.ended.reset();
    return;
  }
  // A VMM inside its shim, or elsewhere, has no process of its own.
  if (vmm_started(observed)) life.ended.reset();
  if (vmm_started(observed) || life.ended) return;
  if (life.pid == 0 && !kata_runs_it(observed)) return;
  life.ended = now;
  life.ended_wall = life.pid != 0 ? wall_seconds : 0;
}

std::optional<Condition> vmm_end_condition(const Record& record, const Observed& observed,
                                           Instant now) {
  const auto& life = record.vmm;
  if (!life.ended || *life.ended + kVmmEndGrace > now) return std::nullopt;
  if (observed.gone || observed.first(ProcessRole::shim) == nullptr) return std::nullopt;
  if (life.pid == 0 && !kata_runs_it(observed)) return std::nullopt;
  if (orderly(life, observed)) return std::nullopt;
  return Condition{ConditionName::vmm_ended, text_of(life, observed, record.history.oom.kills)};
}

}  // namespace kcg
