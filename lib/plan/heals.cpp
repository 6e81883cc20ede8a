// SPDX-License-Identifier: Apache-2.0
#include "plan/heals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace kcg {

namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::size_t kHealsPerMinute = 5;
constexpr Instant kWindow = seconds(60);
constexpr Instant kFirstDelay = seconds(30);
constexpr Instant kLongestDelay = minutes(10);

/// Processes that a plan moves as a whole, with the hierarchy.
using Moved = std::set<std::pair<Pid, std::string>>;

std::pair<Pid, std::string> place_of(const Step& step) {
  return {step.process, step.group.hierarchy};
}

/// Value: a step that puts something in its place.
struct Heal {
  std::string key;        ///< what it is counted by: "task 12", "cpu.max of /a/b"
  bool ordinary = false;  ///< nobody fights: Kata's own pull-backs, threads that follow
};

std::optional<Heal> heal_of(const Step& step, const Observed& observed, const Moved& moved) {
  switch (step.op) {
    case Op::move_process:
    case Op::move_thread: {
      const bool by_kata = observed.kata_group && step.old_value == observed.kata_group->str();
      // Wherever such a thread was, it was its process that somebody moved.
      const bool follows = step.op == Op::move_thread && moved.contains(place_of(step));
      return Heal{fmt::format("task {}", step.task ? step.task->pid : 0), by_kata || follows};
    }
    case Op::limit:
    case Op::seed:
    case Op::set_scope:
      return Heal{fmt::format("{} of {}", step.key, step.group.path.str()), false};
    default:
      return std::nullopt;
  }
}

/// The first time is the placement itself; what was contested once has no such credit.
void judge(HealCount& heal, Instant now) {
  const bool contested = heal.delay > Instant(0) || heal.times.size() > kHealsPerMinute + 1;
  if (!contested || heal.quiet_until > now) return;
  heal.delay = std::min(heal.delay == Instant(0) ? kFirstDelay : heal.delay * 2, kLongestDelay);
  heal.quiet_until = now + heal.delay;
}

bool forgotten(const HealCount& heal, Instant now) {
  if (!heal.times.empty()) return false;
  return heal.delay == Instant(0) || heal.quiet_until + kLongestDelay < now;
}

}  // namespace

void count_heals(Record& record, const Observed& observed, const Report& report, Instant now) {
  Moved moved;
  for (const auto& result : report.results)
    if (result.step.op == Op::move_process) moved.insert(place_of(result.step));
  std::map<std::string, bool> healed;  // true: by somebody's doing
  for (const auto& result : report.results) {
    const bool asked = result.step.op == Op::set_scope && result.outcome == Outcome::pending;
    if (result.outcome != Outcome::done && !asked) continue;
    if (auto heal = heal_of(result.step, observed, moved)) {
      auto& counts = healed[std::move(heal->key)];
      counts = counts || !heal->ordinary;
    }
  }
  for (auto& [key, heal] : record.heals)
    std::erase_if(heal.times, [&](Instant t) { return t + kWindow < now; });
  for (const auto& [key, counts] : healed) {
    auto& heal = record.heals[key];
    if (!counts && !heal.times.empty()) continue;
    heal.times.push_back(now);
    if (counts) judge(heal, now);
  }
  std::erase_if(record.heals, [&](const auto& entry) { return forgotten(entry.second, now); });
}

Plan without_contested(const Plan& plan, const Record& record, const Observed& observed,
                       Instant now) {
  Moved moved;
  for (const auto& step : plan.steps)
    if (step.op == Op::move_process) moved.insert(place_of(step));
  Moved left;  // processes that stay where they are, and their threads with them
  Plan rest;
  for (const auto& step : plan.steps) {
    const bool for_systemd = step.op == Op::start_scope || step.op == Op::set_scope;
    if (for_systemd && record.scope_tries > 0 && now < record.scope_due) continue;
    if (step.op == Op::move_thread && left.contains(place_of(step))) continue;
    const auto what = heal_of(step, observed, moved);
    const auto heal = what && !what->ordinary ? record.heals.find(what->key) : record.heals.end();
    if (heal == record.heals.end() || heal->second.quiet_until <= now)
      rest.steps.push_back(step);
    else if (step.op == Op::move_process)
      left.insert(place_of(step));
  }
  return rest;
}

}  // namespace kcg
