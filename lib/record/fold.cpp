// SPDX-License-Identifier: Apache-2.0
#include "record/fold.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "layout/scope.hpp"
#include "record/fold_parts.hpp"
#include "record/heals.hpp"
#include "record/outcomes.hpp"
#include "record/scope_tries.hpp"
#include "record/vmm_end.hpp"

namespace kcg {

namespace {

using std::chrono::milliseconds;
using namespace folding;

/// What did not settle in one pass, because somebody moved things meanwhile, is looked at soon.
constexpr Instant kUnsettledRetry = milliseconds(50);

bool severe(const std::vector<ActiveCondition>& conditions) {
  return std::any_of(conditions.begin(), conditions.end(), [](const ActiveCondition& active) {
    return active.condition.severity != Severity::info;
  });
}

SandboxState state_of(const Record& record, const Observed& observed, const Desired& desired) {
  if (observed.gone) return SandboxState::removing;
  if (observed.unmanaged) return SandboxState::unmanaged;
  if (severe(record.conditions)) return SandboxState::degraded;
  return desired.act && record.placed_once ? SandboxState::placed : SandboxState::discovered;
}

std::size_t failed_removals(const Report& report) {
  return static_cast<std::size_t>(
      std::count_if(report.results.begin(), report.results.end(), [](const StepResult& r) {
        return is<op::Remove>(r.step) && r.outcome == Outcome::failed && !overtaken(r);
      }));
}

/// Who was not seen has ended only if all could be seen.
void remember_trusted(Record& record, const Observed& observed) {
  const auto before = std::exchange(record.trusted, {});
  for (const auto& process : observed.processes)
    record.trusted.insert({process.facts.key, process.role, process.hypervisor});
  if (!observed.unread()) return;
  for (const auto& one : before)
    if (std::none_of(record.trusted.begin(), record.trusted.end(),
                     [&](const Trusted& trusted) { return trusted.key == one.key; }))
      record.trusted.insert(one);
}

bool removed(const StepResult& result) {
  return is<op::Remove>(result.step) && result.outcome == Outcome::done;
}

/// Their path is known only as long as the bundle exists, which can go before the next look; they
/// have to go also after it.
void remember_groups(Record& record, const Observed& observed, const Report& report) {
  auto groups = observed.unread_groups.empty() ? FlatSet<GroupRef>() : record.found_groups.all();
  for (const auto& [ref, group] : observed.groups)
    if (group.mark == observed.inputs.id.str()) groups.insert(ref);
  for (const auto& result : report.results)
    if (is<op::Mark>(result.step) && result.outcome == Outcome::done)
      groups.insert(result.step.group);
    else if (removed(result))
      groups.erase(result.step.group);
  record.found_groups = FoundGroups(groups);
}

/// It is gone, and what carried the mark, if anything, has been removed just now.
bool all_removed(const Observed& observed, const Report& report) {
  return observed.gone && !observed.unread() &&
         std::all_of(observed.groups.begin(), observed.groups.end(), [&](const auto& group) {
           return group.second.mark != observed.inputs.id.str() ||
                  std::any_of(report.results.begin(), report.results.end(),
                              [&](const StepResult& result) {
                                return removed(result) && result.step.group == group.first;
                              });
         });
}

void count_unread(Record& record, const Observed& observed, unsigned round, Instant now) {
  auto& [tries, since] = record.unread;
  if (!observed.unread()) {
    record.unread = {};
  } else if (round == 1 || tries == 0) {
    if (tries++ == 0) since = now;
  }
}

void remember(Record& record, const Observed& observed, const Desired& desired, Instant now) {
  remember_trusted(record, observed);
  record.only_layout = observed.only_layout;
  record.history = desired.history;
  // A bundle that is still being written proves nobody; its shim has announced itself already.
  if ((observed.inputs.bundle || observed.gone) && !observed.unread())
    record.shim_candidates.clear();
  // Two clocks are subtracted to tell it: a second more or less is no news.
  const auto drift = observed.created - record.created;
  if (drift > 1 || drift < -1) record.created = observed.created;
  if (!observed.gone) {
    record.ended.reset();
  } else if (!record.ended) {
    record.ended = now;
    record.fixed.reset();  // Docker starts a container again under its old id
  }
  if (!observed.unread())
    record.watched = !observed.gone && (record.watched || !vmm_started(observed));
  if (desired.act && !observed.gone && vmm_started(observed) && !record.fixed)
    record.fixed = FixedLayout{desired.layout, desired.layout_source, desired.form};
}

/// As long as something is wanted: afterwards the place is still the sandbox's.
void remember_place(Record& record, const Desired& desired) {
  if (desired.sandbox_cgroup.is_root()) return;
  record.place =
      Packed(Place{desired.layout, desired.layout_source, desired.driver, desired.pod_cgroup,
                   desired.sandbox_cgroup, desired.overhead_cgroup, desired.overhead});
}

/// The earliest of what any part waits for, but for threads that nothing names. systemd is waited
/// for when the kernel has nothing to be asked again.
std::optional<Instant> next_wake(const Record& record, const Observed& observed, Instant now) {
  auto next = record.retries.wake(now);
  if (!next) next = scope_wake(record, observed, now);
  for (const auto& due :
       {record.heals.wake(now), record.vmm.wake(now), record.unread.wake(now),
        record.failures->wake(now), record.unrest->wake(now), record.charge.wake(now)})
    next = earlier(next, due);
  return next;
}

}  // namespace

Folded fold(const Record& before, const Observed& observed, const Desired& desired,
            const Report& report, unsigned round, Instant now, std::int64_t wall_seconds) {
  Folded out{before, {}, {}};
  Record& record = out.record;
  remember(record, observed, desired, now);
  remember_groups(record, observed, report);
  remember_place(record, desired);
  count_unread(record, observed, round, now);
  if (!observed.unread()) follow_vmm(record.vmm, observed, now, wall_seconds);
  out.repairs = count_heals(record, observed, report, round, now);
  count_scope_tries(record, observed, desired, report, now);

  const bool blocked = failed_removals(report) > 0;
  record.retries.removals = blocked ? record.retries.removals + 1 : 0;
  record.retries.end_is_told = observed.host.unified();
  const bool early = std::any_of(report.results.begin(), report.results.end(), too_early);
  record.retries.moves = early ? record.retries.moves + 1 : 0;
  const bool waits = waits_for_scope(record.scope->pending);
  const bool over = all_removed(observed, report) && !record.scope->pending;
  // A registration goes when a look has found nothing: see nothing_left().
  const bool done_with = over && !observed.inputs.registration;
  out.follow_up.again = report.done() > 0 && round < kRounds && !waits && !done_with;
  note_unrest(record, observed, report, round, !out.follow_up.again, now);
  record.conditions = merge(
      before.conditions, current_conditions(record, observed, desired, report, now), wall_seconds,
      before.ended.has_value() && !observed.gone, observed.first(ProcessRole::vmm) != nullptr);
  note_failures(record, report, !out.follow_up.again, now);
  const bool any_failed =
      std::any_of(report.results.begin(), report.results.end(),
                  [](const StepResult& r) { return r.outcome == Outcome::failed; });
  if (desired.act && !observed.gone && !any_failed && !waits) record.placed_once = true;
  record.state = state_of(record, observed, desired);

  const bool settled =
      !out.follow_up.again && !blocked && !early && missing_scope(observed, desired) == nullptr;
  const bool moved_on = settled && report.done() > 0;
  record.unnamed.due.reset();
  if (settled && !moved_on && desired.act && !observed.gone)
    record.unnamed.plan_look(unnamed_of(observed), now);
  plan_charge(record, observed, now);
  out.follow_up.look_at = next_wake(record, observed, now);
  if (moved_on) out.follow_up.look_at = earlier(out.follow_up.look_at, now + kUnsettledRetry);
  out.follow_up.retry_at = earlier(out.follow_up.look_at, record.unnamed.wake(now));
  out.follow_up.forget = over && !blocked;
  return out;
}

}  // namespace kcg
