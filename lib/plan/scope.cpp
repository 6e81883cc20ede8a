// SPDX-License-Identifier: Apache-2.0
#include "plan/scope.hpp"

#include <algorithm>
#include <chrono>

#include "plan/layout.hpp"
#include "plan/unit_properties.hpp"

namespace kcg {

namespace {

using std::chrono::minutes;
using std::chrono::seconds;

/// systemd ends every job, or answers, long before this; a bus that was lost does neither.
constexpr Instant kJobTimeout = seconds(90);
constexpr Instant kFirstDelay = seconds(1);
constexpr Instant kLongestDelay = minutes(10);
/// How long systemd may take for the removal of an ended scope and of all that is below it.
constexpr Instant kRemovalGrace = seconds(5);

bool asks_systemd(const StepResult& result) {
  const bool scope = result.step.op == Op::start_scope || result.step.op == Op::set_scope;
  return scope && result.outcome != Outcome::skipped;
}

bool holds(const GroupState& group, const std::vector<WantedFile>& files) {
  return std::all_of(files.begin(), files.end(), [&](const WantedFile& file) {
    return as_systemd_writes(file, group.file(file.key).value_or(""));
  });
}

/// A unit of systemd's, by its place.
bool is_scope(const CgroupPath& path) {
  const auto slice = path.parent();
  return path.name().ends_with(".scope") && (slice.is_root() || slice.name().ends_with(".slice"));
}

bool in_scope(CgroupPath path) {
  while (!path.is_root() && !is_scope(path)) path = path.parent();
  return !path.is_root();
}

/// Every scope exists and has its limits.
bool in_order(const Observed& observed, const Desired& desired) {
  return std::all_of(desired.groups.begin(), desired.groups.end(), [&](const WantedGroup& wanted) {
    const auto* now = observed.group(wanted.ref);
    return !wanted.scope ||
           (now != nullptr && holds(*now, wanted.seeds) && holds(*now, wanted.limits));
  });
}

void count_try(Record& record, Instant now) {
  const auto delay = kFirstDelay * (std::int64_t{1} << std::min(record.scope_tries, 15U));
  ++record.scope_tries;
  record.scope_asked = now;
  record.scope_due = now + std::min<Instant>(delay, kLongestDelay);
}

void add_limits(Step& step, const std::vector<WantedFile>& files) {
  for (const auto& file : files)
    if (std::find(step.limits.begin(), step.limits.end(), file) == step.limits.end())
      step.limits.push_back(file);
}

/// One process, and the one that lives longest: the start of a scope fails when systemd cannot move
/// a process that ends just then. nullptr: there is none.
const WantedProcess* first_member(const Desired& desired) {
  const auto& all = desired.processes;
  for (const auto role : {ProcessRole::vmm, ProcessRole::shim})
    for (const auto& process : all)
      if (process.role == role) return &process;
  return all.empty() ? nullptr : &all.front();
}

}  // namespace

const WantedGroup* missing_scope(const Observed& observed, const Desired& desired) {
  for (const auto& group : desired.groups)
    if (group.scope && observed.group(group.ref) == nullptr) return &group;
  return nullptr;
}

Step start_scope_step(const WantedGroup& scope, const Desired& desired) {
  Step step;
  step.op = Op::start_scope;
  step.group = scope.ref;
  step.role = scope.role;
  step.key = std::string(scope.ref.path.name());
  const auto slice = scope.ref.path.parent();
  step.new_value = slice.is_root() ? "-.slice" : std::string(slice.name());
  if (const auto* process = first_member(desired)) step.task = process->key;
  for (const auto& group : desired.groups) {
    if (!group.scope || group.ref.path != scope.ref.path) continue;
    add_limits(step, group.seeds);
    add_limits(step, group.limits);
  }
  return step;
}

bool waits_for_scope(const std::optional<PendingJob>& pending) {
  return pending && !pending->limits;
}

bool scope_holds_us(const Observed& observed, const WantedGroup& group) {
  const auto& hierarchies = observed.host.hierarchies;
  const auto inside = [&](const Process& process) {
    for (std::size_t i = 0; !process.threads.empty() && i < hierarchies.size(); ++i) {
      const auto& groups = process.threads.front().facts.groups;
      if (hierarchies[i].name != group.ref.hierarchy || i >= groups.size()) continue;
      return groups[i] == group.ref.path.str();
    }
    return false;
  };
  return group.scope && std::any_of(observed.processes.begin(), observed.processes.end(), inside);
}

bool left_to_systemd(const Observed& observed, const GroupRef& group) {
  const auto* hierarchy = observed.host.find(group.hierarchy);
  if (hierarchy == nullptr || !systemd_manages(*hierarchy)) return false;
  if (!observed.gone) return is_scope(group.path);
  return in_scope(group.path) && std::chrono::milliseconds(observed.gone_ms) < kRemovalGrace;
}

void count_scope_tries(Record& record, const Observed& observed, const Desired& desired,
                       const Report& report, Instant now) {
  record.pending = observed.pending;
  if (record.pending && record.scope_asked + kJobTimeout <= now) {
    record.scope_problem = fmt::format("no answer within {} s",
                                       std::chrono::duration_cast<seconds>(kJobTimeout).count());
    record.pending.reset();
  }
  if (observed.gone || (!record.pending && in_order(observed, desired))) {
    record.scope_tries = 0;
    record.scope_problem.clear();
  }
  bool asked = false;
  for (const auto& result : report.results) {
    if (!asks_systemd(result)) continue;
    asked = true;
    const auto& step = result.step;
    const bool limits = step.op == Op::set_scope;
    if (result.outcome == Outcome::pending)
      record.pending = PendingJob{limits ? std::string(step.group.path.name()) : step.key, limits};
  }
  if (asked) count_try(record, now);
}

std::optional<Condition> scope_condition(const Record& record, const Desired& desired,
                                         const Report& report) {
  // Asked again, it stays until systemd has done it.
  if (record.scope_tries == 0 || (record.pending && record.scope_tries == 1)) return std::nullopt;
  if (std::any_of(report.results.begin(), report.results.end(), [](const StepResult& result) {
        return asks_systemd(result) && result.outcome == Outcome::failed;
      }))
    return std::nullopt;
  const auto unit = desired.sandbox_cgroup.name();
  const auto& problem = record.scope_problem;
  const auto times = record.scope_tries == 1 ? "once" : fmt::format("{} times", record.scope_tries);
  return Condition{
      ConditionName::scope_failed,
      fmt::format("systemd was asked {} for what {} needs and has not done it: "
                  "{}; it is asked again later; see 'systemctl status {}'",
                  times, unit, problem.empty() ? "nothing came of it" : problem, unit)};
}

std::optional<Instant> scope_wake(const Record& record, const Observed& observed, Instant now) {
  if (record.pending) return record.scope_asked + kJobTimeout;
  if (record.scope_tries > 0) return std::max(record.scope_due, now);
  const bool left =
      std::any_of(record.found_groups.begin(), record.found_groups.end(),
                  [&](const auto& group) { return left_to_systemd(observed, group); });
  if (left && record.ended) return *record.ended + kRemovalGrace;
  return std::nullopt;
}

void end_job(Record& record, const std::string& unit, const std::string& problem) {
  if (!record.pending || record.pending->unit != unit) return;
  record.pending.reset();
  record.scope_problem = problem;
}

}  // namespace kcg
