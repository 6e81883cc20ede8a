// SPDX-License-Identifier: Apache-2.0
//
// fold(): what holds after a pass. What a starting or ending pod shows for a moment is not told:
// only what the next look finds again.
#include <algorithm>
#include <chrono>

#include "base/text.hpp"
#include "model/errnos.hpp"
#include "record/fold_parts.hpp"
#include "record/heals.hpp"
#include "record/outcomes.hpp"
#include "record/scope_tries.hpp"
#include "record/vmm_end.hpp"

namespace kcg::folding {

namespace {

/// Threads that start one after the other look like threads that do not stay where they are.
constexpr Instant kRestless = std::chrono::seconds(1);
/// On a busy machine a file may be late, and so may be the end of a program's execution.
constexpr Instant kUnreadPatience = std::chrono::seconds(5);

Condition failure_condition(const StepResult& result) {
  const auto& step = result.step;
  const auto text =
      fmt::format("{} {}: {}", name(step.operation), step.group.path.str(), result.text);
  if (result.stranger) return {ConditionName::stranger_moved, text};
  if (is<op::Device>(step)) return {ConditionName::device_policy_not_carried, text};
  const bool no_file = is<op::Limit>(step) && result.code == errnos::kNotThere;
  if (is<op::Enable>(step) || no_file) return {ConditionName::controller_missing, text};
  return {ConditionName::write_failed, text};
}

/// One step, whatever it wants to write.
std::string key_of(const Step& step) {
  const auto text = text_of(step);
  return fmt::format("{} {}:{} {} {}", name(step.operation), step.group.hierarchy.str(),
                     step.group.path.str(), text.key, text.task ? text.task->pid : 0);
}

/// Failed by what may be an end, and not for long yet.
bool may_pass(const Record& record, const StepResult& result, Instant now) {
  if (!may_be_its_end(result)) return false;
  const auto since = record.failures->since.find(key_of(result.step));
  return since == record.failures->since.end() || since->second + kEndGrace > now;
}

bool told(const Record& record, const StepResult& result, Instant now) {
  if (result.stranger) return true;
  if (result.outcome != Outcome::failed || overtaken(result) || still_busy(result)) return false;
  if (by_systemd(result.step)) return false;  // scope_condition() does
  if (too_early(result) && record.retries.moves <= kMoveTries) return false;
  return !may_pass(record, result, now);
}

/// desired() knows this moment only; a VMM that starts or ends shows no vCPU for some.
bool lasts(const Record& record, const Observed& observed, const Condition& condition,
           Instant now) {
  if (condition.condition == ConditionName::input_unreadable)
    return !observed.unread() || now - record.unread.since >= kUnreadPatience;
  if (condition.condition != ConditionName::threads_unclassified) return true;
  return record.unrest->vcpuless_since && *record.unrest->vcpuless_since + kVcpuGrace <= now;
}

}  // namespace

void note_failures(Record& record, const Report& report, bool last_round, Instant now) {
  if (!last_round) return;
  record.failures.change([&](Failures& failures) {
    const auto before = std::exchange(failures.since, {});
    for (const auto& result : report.results) {
      if (!may_be_its_end(result) || overtaken(result) || still_busy(result)) continue;
      const auto key = key_of(result.step);
      const auto old = before.find(key);
      failures.since.emplace(key, old == before.end() ? now : old->second);
    }
  });
}

std::vector<Condition> current_conditions(const Record& record, const Observed& observed,
                                          const Desired& desired, const Report& report,
                                          Instant now) {
  std::vector<Condition> conditions;
  for (const auto& condition : desired.conditions)
    if (lasts(record, observed, condition, now)) conditions.push_back(condition);
  for (const auto& result : report.results)
    if (told(record, result, now)) conditions.push_back(failure_condition(result));
  if (record.retries.removals > kRemovalTries)
    conditions.push_back({ConditionName::removal_blocked,
                          fmt::format("a group of {} is still busy; see what runs in it with "
                                      "'cgctl tree {}'",
                                      observed.inputs.id.str(), observed.inputs.id.str())});
  if (record.unrest->restless_since && *record.unrest->restless_since + kRestless <= now)
    conditions.push_back(
        {ConditionName::threads_unsettled,
         fmt::format("threads still move after {} rounds, and in each look for "
                     "more than {} s",
                     kRounds,
                     std::chrono::duration_cast<std::chrono::seconds>(kRestless).count())});
  for (auto& found : {scope_condition(record, desired, now), contest_condition(record),
                      vmm_end_condition(record, observed, now)})
    if (found) conditions.push_back(*found);
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

}  // namespace kcg::folding
