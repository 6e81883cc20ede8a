// SPDX-License-Identifier: Apache-2.0
//
// fold(): what a pass leaves behind in the record, and what comes next.
#include <algorithm>
#include <chrono>

#include "base/text.hpp"
#include "plan/heals.hpp"
#include "plan/layout.hpp"
#include "plan/record.hpp"
#include "plan/scope.hpp"

namespace kcg {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr unsigned kRounds = 5;
constexpr unsigned kRemovalTries = 10;
/// A task that is still being created refuses to be moved.
constexpr unsigned kMoveTries = 5;
constexpr Instant kMoveRetry = milliseconds(6);
/// What did not settle in one pass, because somebody moved things meanwhile, is looked at soon.
constexpr Instant kUnsettledRetry = milliseconds(50);
/// By then desired() tells of a VMM that shows no vCPU.
constexpr Instant kLastLook = seconds(5);
/// By then a VMM has touched what its firmware and kernel need.
constexpr Instant kChargeDelay = seconds(5);
constexpr int kENOENT = 2, kESRCH = 3, kEBUSY = 16, kENODEV = 19, kEINVAL = 22, kEOPNOTSUPP = 95;

bool is_move(const Step& step) { return step.op == Op::move_process || step.op == Op::move_thread; }

bool moved(const StepResult& result) {
  return is_move(result.step) && result.outcome == Outcome::done;
}

/// Still being created, or moved elsewhere between the look and the write: looked at again.
bool too_early(const StepResult& result) {
  const bool early = result.code == kEINVAL || result.code == kEOPNOTSUPP;
  return is_move(result.step) && result.outcome == Outcome::failed && early;
}

Condition failure_condition(const StepResult& result) {
  const auto& step = result.step;
  const auto text = fmt::format("{} {}: {}", name(step.op), step.group.path.str(), result.text);
  if (result.stranger) return {ConditionName::stranger_moved, text};
  switch (step.op) {
    case Op::start_scope:
    case Op::set_scope:
      return {ConditionName::scope_failed, text};
    case Op::device:
      return {ConditionName::device_policy_not_carried, text};
    case Op::enable:
      if (step.key == "cgroup.subtree_control") return {ConditionName::controller_missing, text};
      break;
    case Op::limit:
      if (result.code == kENOENT) return {ConditionName::controller_missing, text};
      break;
    default:
      break;
  }
  return {ConditionName::write_failed, text};
}

/// Conditions of this pass; a task that ended meanwhile is no failure, and a busy group is one only
/// when the retries are used up.
std::vector<Condition> current_conditions(const Record& record, const Observed& observed,
                                          const Desired& desired, const Report& report,
                                          unsigned round) {
  std::vector<Condition> conditions = desired.conditions;
  for (const auto& result : report.results) {
    if (result.stranger) conditions.push_back(failure_condition(result));
    if (result.outcome != Outcome::failed || result.stranger) continue;
    if (overtaken(result) || still_busy(result)) continue;
    if (too_early(result) && record.move_tries <= kMoveTries) continue;
    conditions.push_back(failure_condition(result));
  }
  if (record.removal_tries > kRemovalTries)
    conditions.push_back({ConditionName::removal_blocked,
                          fmt::format("a group of {} is still busy; see what runs in it with "
                                      "'cgctl tree {}'",
                                      observed.inputs.id.str(), observed.inputs.id.str())});
  if (round >= kRounds && std::any_of(report.results.begin(), report.results.end(), moved))
    conditions.push_back({ConditionName::threads_unsettled,
                          fmt::format("threads still move after {} rounds", kRounds)});
  if (auto scope = scope_condition(record, desired, report))
    conditions.push_back(std::move(*scope));
  for (const auto& [key, heal] : record.heals)
    if (heal.delay > Instant(0))
      conditions.push_back({ConditionName::contested,
                            fmt::format("{} was put back again and again within a minute: somebody "
                                        "else changes it; the next try is delayed",
                                        key)});
  return conditions;
}

/// One entry per condition name and text head keeps its first time; sticky ones stay.
std::vector<ActiveCondition> merge(const std::vector<ActiveCondition>& before,
                                   const std::vector<Condition>& now, std::int64_t wall,
                                   bool new_life, bool vmm_runs) {
  std::vector<ActiveCondition> merged;
  for (const auto& condition : now) {
    const auto same = [&](const ActiveCondition& a) {
      return a.condition.condition == condition.condition;
    };
    const auto old = std::find_if(before.begin(), before.end(), same);
    const bool twice = std::any_of(merged.begin(), merged.end(), [&](const ActiveCondition& a) {
      return a.condition == condition;
    });
    if (!twice) merged.push_back({condition, old == before.end() ? wall : old->since});
  }
  for (const auto& active : before) {
    // Who was killed is said as long as the sandbox is shown, also without its groups; where memory
    // is charged is looked at only once.
    const auto name = active.condition.condition;
    const bool sticky = name == ConditionName::stranger_moved ||
                        (name == ConditionName::charged_elsewhere && vmm_runs) ||
                        (name == ConditionName::oom_killed && !new_life);
    const bool known = std::any_of(merged.begin(), merged.end(), [&](const ActiveCondition& a) {
      return a.condition.condition == active.condition.condition;
    });
    if (sticky && !known) merged.push_back(active);
  }
  return merged;
}

bool severe(const std::vector<ActiveCondition>& conditions) {
  return std::any_of(conditions.begin(), conditions.end(), [](const ActiveCondition& active) {
    return info(active.condition.condition).severity != Severity::info;
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
        return r.step.op == Op::remove && r.outcome == Outcome::failed && !overtaken(r);
      }));
}

void remember(Record& record, const Observed& observed, const Desired& desired, Instant now) {
  record.trusted.clear();
  for (const auto& process : observed.processes)
    record.trusted.insert({process.facts.key, process.role, process.hypervisor});
  // Their path is known only as long as the bundle exists; they have to go also after it.
  record.found_groups.clear();
  for (const auto& [ref, group] : observed.groups)
    if (group.mark == observed.inputs.id.str()) record.found_groups.insert(ref);
  record.history = desired.history;
  // A bundle that is still being written proves nobody; its shim has announced itself already.
  if (observed.inputs.bundle || observed.gone) record.shim_candidates.clear();
  // Two clocks are subtracted to tell it: a second more or less is no news.
  const auto drift = observed.created - record.created;
  if (drift > 1 || drift < -1) record.created = observed.created;
  if (!observed.gone) {
    record.ended.reset();
  } else if (!record.ended) {
    record.ended = now;
    record.fixed.reset();  // Docker starts a container again under its old id
  }
  record.watched = !observed.gone && (record.watched || !vmm_started(observed));
  if (desired.act && !observed.gone && vmm_started(observed) && !record.fixed)
    record.fixed = FixedLayout{desired.layout, desired.layout_source, desired.form};
}

/// A thread that nothing names yet is looked at again: 1, 2, 4, 8, 16 ms, then every 32 ms up to
/// 500 ms, and a last time when it is to be said that no vCPU was found; a vCPU that KVM knows but
/// that has not run yet, for as long, with doubling delay.
std::optional<Instant> next_look(Record& record, const Observed& observed, Instant now) {
  std::set<TaskKey> unnamed;
  bool any_vcpu = false;
  for (const auto& process : observed.processes) {
    if (process.role != ProcessRole::vmm) continue;
    for (const auto& thread : process.threads) {
      any_vcpu = any_vcpu || thread.cls == ThreadClass::vcpu;
      if (thread.by == ClassSource::fallback || thread.by == ClassSource::role)
        unnamed.insert(thread.facts.key);
    }
  }
  const bool grown =
      !std::includes(record.unnamed.begin(), record.unnamed.end(), unnamed.begin(), unnamed.end());
  if (grown) {
    record.looks = 0;
    record.looking_since = now;
  }
  record.unnamed = std::move(unnamed);
  if (record.unnamed.empty()) return std::nullopt;
  const auto age = now - record.looking_since;
  if (age > milliseconds(500)) {
    if (observed.kvm_incomplete)
      return now + std::clamp<Instant>(age, milliseconds(500), seconds(30));
    if (any_vcpu || age >= kLastLook) return std::nullopt;
    return record.looking_since + kLastLook;
  }
  const auto doubled = milliseconds(std::int64_t{1} << std::min(record.looks, 15U));
  ++record.looks;
  return now + std::min(doubled, milliseconds(32));
}

/// Where memory is charged is looked at once, when the sandbox has been in its place for a while.
void plan_charge(Record& record, const Observed& observed, Instant now) {
  const bool runs = !observed.gone && observed.first(ProcessRole::vmm) != nullptr;
  if (!runs) {
    record.charge_due.reset();
    record.charge_seen = false;
    return;
  }
  if (observed.charge) record.charge_seen = true;
  const bool accounted =
      std::any_of(observed.groups.begin(), observed.groups.end(), [&](const auto& entry) {
        return entry.second.mark == observed.inputs.id.str() && entry.second.file("memory.current");
      });
  const bool wanted =
      record.placed_once && accounted && observed.host.unified() && !record.charge_seen;
  if (!wanted)
    record.charge_due.reset();
  else if (!record.charge_due)
    record.charge_due = now + kChargeDelay;
}

/// The earlier one, if any.
std::optional<Instant> earlier(std::optional<Instant> a, std::optional<Instant> b) {
  return a && b ? std::min(*a, *b) : a ? a : b;
}

}  // namespace

bool overtaken(const StepResult& result) {
  const bool vanished = result.code == kENOENT || result.code == kESRCH || result.code == kENODEV;
  const bool ends = is_move(result.step) || result.step.op == Op::remove;
  return result.outcome == Outcome::failed && ends && vanished;
}

bool still_busy(const StepResult& result) {
  return result.outcome == Outcome::failed && result.step.op == Op::remove && result.code == kEBUSY;
}

Folded fold(const Record& before, const Observed& observed, const Desired& desired,
            const Report& report, unsigned round, Instant now, std::int64_t wall_seconds) {
  Folded out{before, {}};
  Record& record = out.record;
  remember(record, observed, desired, now);
  count_heals(record, observed, report, now);
  count_scope_tries(record, observed, desired, report, now);

  const bool blocked = failed_removals(report) > 0;
  record.removal_tries = blocked ? record.removal_tries + 1 : 0;
  const bool early = std::any_of(report.results.begin(), report.results.end(), too_early);
  record.move_tries = early ? record.move_tries + 1 : 0;
  record.conditions = merge(
      before.conditions, current_conditions(record, observed, desired, report, round), wall_seconds,
      before.ended.has_value() && !observed.gone, observed.first(ProcessRole::vmm) != nullptr);
  const bool any_failed =
      std::any_of(report.results.begin(), report.results.end(),
                  [](const StepResult& r) { return r.outcome == Outcome::failed; });
  if (desired.act && !observed.gone && !any_failed && !waits_for_scope(record.pending))
    record.placed_once = true;
  record.state = state_of(record, observed, desired);

  const bool waits = waits_for_scope(record.pending);
  out.follow_up.again = report.done() > 0 && round < kRounds && !waits;
  if (blocked && record.removal_tries <= kRemovalTries)
    out.follow_up.retry_at = now + milliseconds(std::int64_t{1} << (record.removal_tries - 1));
  else if (early && record.move_tries <= kMoveTries)
    out.follow_up.retry_at = now + kMoveRetry;
  else
    out.follow_up.retry_at = scope_wake(record, observed, now);
  const bool settled =
      !out.follow_up.again && !blocked && !early && missing_scope(observed, desired) == nullptr;
  if (settled && report.done() > 0)
    out.follow_up.retry_at = earlier(out.follow_up.retry_at, now + kUnsettledRetry);
  else if (settled && desired.act && !observed.gone)
    out.follow_up.retry_at = earlier(out.follow_up.retry_at, next_look(record, observed, now));
  plan_charge(record, observed, now);
  out.follow_up.retry_at = earlier(out.follow_up.retry_at, record.charge_due);
  const bool ours_left = std::any_of(observed.groups.begin(), observed.groups.end(), [&](auto& g) {
    return g.second.mark == observed.inputs.id.str();
  });
  out.follow_up.forget = observed.gone && !ours_left && !record.pending;
  return out;
}

bool charge_wanted(const Record& record, Instant now) {
  return record.charge_due && *record.charge_due <= now;
}

bool creation_open(const Report& report) {
  return std::any_of(report.results.begin(), report.results.end(), [](const StepResult& result) {
    const bool unmarked = result.step.op == Op::mark && result.outcome != Outcome::done;
    const bool scope = result.step.op == Op::start_scope && result.outcome == Outcome::pending;
    return unmarked || scope;
  });
}

}  // namespace kcg
