// SPDX-License-Identifier: Apache-2.0
#include "pass/reconsider.hpp"

#include <cstddef>
#include <utility>

#include "pass/glance.hpp"
#include "pass/moved.hpp"
#include "pass/seen_groups.hpp"
#include "plan/desired.hpp"

namespace kcg {

namespace {

/// Its VMM runs, as a process of its own: whether it does, or has ended, is no question to Kata.
bool runs(const Observed& observed, const Record& record) {
  return observed.first(ProcessRole::vmm) != nullptr && !vmm_elsewhere(observed.inputs) &&
         !record.vmm.ended;
}

std::size_t tasks_of(const Observed& observed) {
  std::size_t count = observed.foreign.size();
  for (const auto& process : observed.processes) count += process.threads.size();
  return count;
}

bool asked(const Config& config, const Assembled& now, LastLook& last, Record& record) {
  auto& observed = last.observed;
  if (!runs(observed, record) || now.conditions != last.said) return false;
  if (!now.inputs.kata || vmm_elsewhere(now.inputs)) return false;
  observed.inputs.kata = now.inputs.kata;
  if (observed.inputs != now.inputs) return false;
  if (desired(config, observed) != last.want) return false;
  record.vmm.state_seen = true;
  return true;
}

}  // namespace

std::optional<LastLook> last_look(Round round, const Record& record, std::vector<Condition> said) {
  if (tasks_of(round.observed) > kMostGlanced) return std::nullopt;
  const bool hold = groups_hold(round);
  take_in_moves(round);
  round.observed.fixed = record.fixed;  // by this look, where its VMM had executed
  return LastLook{std::move(round.observed), std::move(round.want), std::move(said), hold};
}

bool still_wanted(const Config& config, const Assembled& now, LastLook& last, Record& record) {
  try {
    return asked(config, now, last, record);
  } catch (...) {
    return false;  // a look fails likewise, and tells why
  }
}

}  // namespace kcg
