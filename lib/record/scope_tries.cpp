// SPDX-License-Identifier: Apache-2.0
#include "record/scope_tries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "kernel/unit_properties.hpp"
#include "layout/scope.hpp"

namespace kcg {

namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr Instant kFirstDelay = seconds(1);
constexpr Instant kLongestDelay = minutes(10);
/// As long as systemd takes to reload, or to be back on the bus, on a busy machine.
constexpr Instant kPatience = seconds(5);

bool asks_systemd(const StepResult& result) {
  return by_systemd(result.step) && result.outcome != Outcome::skipped;
}

bool holds(const GroupState& group, const std::vector<WantedFile>& files) {
  return std::all_of(files.begin(), files.end(), [&](const WantedFile& file) {
    return as_systemd_writes(file, group.file(file.key).value_or(""));
  });
}

/// Every scope exists and has its limits.
bool in_order(const Observed& observed, const Desired& desired) {
  return std::all_of(desired.groups.begin(), desired.groups.end(), [&](const WantedGroup& wanted) {
    const auto* now = observed.group(wanted.ref);
    return !wanted.scope ||
           (now != nullptr && holds(*now, wanted.seeds) && holds(*now, wanted.limits));
  });
}

void tell_from(ScopeTries& scope, Instant when) {
  scope.told_from = earlier(scope.told_from, when);
}

/// Asked once, it may be about to: a scope's directory is there before its limits are.
void count_try(ScopeTries& scope, Instant now) {
  scope.asked = now;
  if (scope.tries > 0) tell_from(scope, now + kPatience);
  scope.due = now + doubled(kFirstDelay, scope.tries++, kLongestDelay);
}

/// It could not be asked: systemd is not reached, or who is to be in the scope has just ended.
void note_failure(ScopeTries& scope, const StepResult& result, Instant now) {
  scope.problem = result.text;
  tell_from(scope, now + kPatience);
}

/// What is waited for still is.
void forget_tries(ScopeTries& scope) {
  auto before = std::exchange(scope, {});
  if (!before.pending) return;
  scope.pending = std::move(before.pending);
  scope.asked = before.asked;
}

}  // namespace

std::optional<PendingJob> open_job(const Observed& observed,
                                   const std::optional<PendingJob>& pending) {
  if (!pending) return std::nullopt;
  const bool made = std::any_of(observed.groups.begin(), observed.groups.end(), [&](const auto& g) {
    return g.first.path.name() == pending->unit;
  });
  return made == pending->limits ? pending : std::nullopt;
}

void count_scope_tries(Record& record, const Observed& observed, const Desired& desired,
                       const Report& report, Instant now) {
  const bool asked = std::any_of(report.results.begin(), report.results.end(), asks_systemd);
  if (!asked && !observed.pending && record.scope.ordinary()) return;
  record.scope.change([&](ScopeTries& scope) {
    scope.pending = observed.pending;
    if (scope.pending && scope.asked + kJobTimeout <= now) {
      scope.problem = fmt::format("no answer within {} s",
                                  std::chrono::duration_cast<seconds>(kJobTimeout).count());
      scope.pending.reset();
      tell_from(scope, now);
    }
    if (observed.gone || (!scope.pending && in_order(observed, desired))) forget_tries(scope);
    for (const auto& result : report.results) {
      if (!asks_systemd(result)) continue;
      if (result.outcome == Outcome::failed) note_failure(scope, result, now);
      if (result.outcome == Outcome::pending)
        scope.pending = PendingJob{unit_of(result.step.group), is<op::SetScope>(result.step)};
    }
    if (asked) count_try(scope, now);
  });
}

std::optional<Condition> scope_condition(const Record& record, const Desired& desired,
                                         Instant now) {
  const auto& scope = record.scope.get();
  if (!scope.told_from || *scope.told_from > now) return std::nullopt;
  const auto& problem = scope.problem;
  const auto unit = desired.sandbox_cgroup.name();
  const auto times = scope.tries == 1 ? "once" : fmt::format("{} times", scope.tries);
  return Condition{
      ConditionName::scope_failed,
      fmt::format("systemd was asked {} for what {} needs and has not done it: "
                  "{}; it is asked again later; see 'systemctl status {}'",
                  times, unit, problem.empty() ? "nothing came of it" : problem, unit)};
}

std::optional<Instant> scope_wake(const Record& record, const Observed& observed, Instant now) {
  if (const auto due = record.scope->wake(now)) return due;
  if (!record.ended) return std::nullopt;
  const auto groups = record.found_groups.all();
  const bool left = std::any_of(groups.begin(), groups.end(), [&](const auto& group) {
    return left_to_systemd(observed, group);
  });
  if (left) return *record.ended + kScopeRemovalGrace;
  return std::nullopt;
}

void end_job(Record& record, const std::string& unit, const std::string& problem, Instant now) {
  if (!record.scope->pending || record.scope->pending->unit != unit) return;
  record.scope.change([&](ScopeTries& scope) {
    scope.pending.reset();
    scope.problem = problem;
    if (!problem.empty()) tell_from(scope, now);
  });
}

}  // namespace kcg
