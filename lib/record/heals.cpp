// SPDX-License-Identifier: Apache-2.0
#include "record/heals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "layout/layout.hpp"
#include "record/outcomes.hpp"

namespace kcg {

namespace {

using std::chrono::minutes;
using std::chrono::seconds;

/// So often somebody may undo the same thing, within the window or in passes one after the other:
/// where only the resync looks, a minute holds two.
constexpr std::size_t kRepairs = 5;
constexpr Instant kWindow = seconds(60);
constexpr Instant kFirstDelay = seconds(30);
constexpr Instant kLongestDelay = minutes(10);

/// Processes that a plan moves as a whole, with the hierarchy.
using Moved = std::set<std::pair<Pid, HierarchyName>>;

/// Nobody's for what moves nobody.
std::pair<Pid, HierarchyName> place_of(const Step& step) {
  if (const auto* thread = as<op::MoveThread>(step)) return {thread->process, step.group.hierarchy};
  const auto* process = as<op::MoveProcess>(step);
  return {process == nullptr ? 0 : process->task.pid, step.group.hierarchy};
}

/// What a step is counted by; nullopt for what cannot be contested.
std::optional<HealKey> counted_by(const Step& step) {
  if (const auto* move = move_of(step)) return HealKey{fmt::format("task {}", move->task.pid)};
  if (const auto* change = change_of(step)) return HealKey{change->key, step.group.path};
  return std::nullopt;
}

/// In several hierarchies a thread has several places, but one class.
std::string value_of(const Step& step) {
  if (const auto* move = move_of(step)) return std::string(name(move->cls));
  const auto* change = change_of(step);
  return change == nullptr ? "" : change->new_value;
}

/// Where Kata itself puts its threads, again and again.
std::set<std::string> katas_places(const Observed& observed) {
  std::set<std::string> places;
  if (const auto& path = observed.cgroups_path)
    for (const auto& kata : kata_paths(observed.inputs.id, *path)) places.emplace(kata.str());
  return places;
}

/// Nobody fights: Kata's own pull-backs, and threads that follow a process that somebody moved.
class Ordinary final {
 public:
  Ordinary(const Observed& observed, Moved moved) : observed_(observed), moved_(std::move(moved)) {}
  [[nodiscard]] bool operator()(const Step& step) {
    const auto* move = move_of(step);
    if (move == nullptr) return false;
    if (!std::exchange(asked_, true)) katas_ = katas_places(observed_);
    return katas_.contains(move->from) ||
           (is<op::MoveThread>(step) && moved_.contains(place_of(step)));
  }

 private:
  const Observed& observed_;
  bool asked_ = false;  ///< before somebody moves nobody needs to know
  std::set<std::string> katas_;
  Moved moved_;
};

/// Value: what one pass did to one thread or file; the steps of several hierarchies, or a list that
/// is widened first and narrowed later, are one doing.
struct Doing {
  std::string value;  ///< the last one
  std::string found;  ///< the first one
  HierarchyName hierarchy;
  Repair repair;            ///< if that is what it was
  bool undone = false;      ///< something stood there, and not by Kata's ordinary doing
  bool by_systemd = false;  ///< who may not have done it yet when we look again
  bool nobodys = false;     ///< somebody need not have undone anything
};

/// Kata itself moves its shim, also when it ends; and a process that is to be divided among our
/// groups anew is taken back to their top first.
bool nobodys_doing(const Step& step) {
  const auto* move = move_of(step);
  if (move == nullptr) return false;
  const bool divided = is<op::MoveProcess>(step) && move->from.starts_with(step.group.path.str());
  return divided || move->cls == ThreadClass::shim;
}

Repair repair_by(const Step& step) {
  if (const auto* move = move_of(step))
    return {"", step.group, move->from, std::to_string(move->task.pid)};
  const auto& change = *change_of(step);
  return {change.key, step.group, change.old_value, change.new_value};
}

std::map<HealKey, Doing> doings_of(const Report& report, Ordinary& ordinary) {
  std::map<HealKey, Doing> doings;
  for (const auto& result : report.results) {
    const auto& step = result.step;
    const bool asked = is<op::SetScope>(step) && result.outcome == Outcome::pending;
    auto key = counted_by(step);
    if (!key || (result.outcome != Outcome::done && !asked)) continue;
    const auto [it, first] = doings.try_emplace(std::move(*key));
    auto& doing = it->second;
    const auto found = text_of(step).old_value;
    if (first) {
      doing.found = found;
      doing.repair = repair_by(step);
      doing.nobodys = nobodys_doing(step);
    }
    if (const auto* change = change_of(step)) doing.repair.written = change->new_value;
    if (move_of(step) == nullptr) doing.hierarchy = step.group.hierarchy;
    doing.value = value_of(step);
    // A file that could not be read is not one that somebody emptied.
    doing.undone = doing.undone || (!found.empty() && !ordinary(step));
    doing.by_systemd = asked;
  }
  return doings;
}

std::set<HealKey> planned(const Report& report) {
  std::set<HealKey> keys;
  for (const auto& result : report.results)
    if (auto key = counted_by(result.step)) keys.insert(std::move(*key));
  return keys;
}

void judge(Contest& contest, Instant now) {
  const bool contested =
      contest.delay > Instant(0) || contest.times.size() > kRepairs || contest.row > kRepairs;
  if (!contested || contest.quiet_until > now) return;
  contest.delay =
      std::min(contest.delay == Instant(0) ? kFirstDelay : contest.delay * 2, kLongestDelay);
  contest.quiet_until = now + contest.delay;
}

/// Whether somebody had undone it.
bool count(HealCount& heal, const Doing& doing, unsigned round, Instant now) {
  const bool ours = heal.written != doing.value;  // a first write, or a changed wish
  if (ours) heal = HealCount{};
  const bool undone = !ours && doing.undone && (heal.held || !doing.by_systemd);
  heal.written = doing.value;
  heal.hierarchy = doing.hierarchy;
  heal.last = now;
  heal.held = false;
  if (!undone) return false;
  heal.contest.change([&](Contest& contest) {
    contest.found = doing.found;
    contest.times.push_back(now);
    contest.row += round == 1 ? 1U : 0U;
    judge(contest, now);
  });
  return true;
}

/// Nothing had to be done about it. The rounds of one pass are one look.
void found_held(HealCount& heal, unsigned round) {
  heal.held = true;
  if (round == 1 && heal.contest->row > 0)
    heal.contest.change([](Contest& contest) { contest.row = 0; });
}

/// A contest ends when nobody came back for long.
void calm(HealCount& heal, Instant now) {
  if (heal.contest.ordinary()) return;
  heal.contest.change([&](Contest& contest) {
    std::erase_if(contest.times, [&](Instant t) { return t + kWindow < now; });
    if (heal.last + kLongestDelay < now) contest.row = 0;
    if (contest.delay > Instant(0) && contest.quiet_until + kLongestDelay < now) {
      contest.delay = contest.quiet_until = Instant(0);
      contest.row = 0;
    }
    if (contest.times.empty() && contest.row == 0 && contest.delay == Instant(0)) contest = {};
  });
}

/// Whose file it is; nullopt: it is a thread.
std::optional<GroupRef> group_of(const HealKey& key, const HealCount& heal) {
  if (heal.hierarchy == HierarchyName()) return std::nullopt;
  return GroupRef{heal.hierarchy, key.group};
}

/// Tasks come and go; a file is remembered as long as its group.
bool forgotten(const HealKey& key, const HealCount& heal, const Observed& observed, Instant now) {
  if (const auto group = group_of(key, heal)) return observed.group(*group) == nullptr;
  return heal.contest.ordinary() && heal.last + kWindow < now;
}

/// What was made anew has never been written to.
void forget_made(HealCounts& counts, const Report& report) {
  for (const auto& result : report.results) {
    const bool made = is<op::Create>(result.step) || is<op::StartScope>(result.step);
    if (!made || result.outcome == Outcome::skipped) continue;
    std::erase_if(counts, [&](const auto& entry) {
      return group_of(entry.first, entry.second) == result.step.group;
    });
  }
}

Moved moved_by(const Report& report) {
  Moved moved;
  for (const auto& result : report.results)
    if (is<op::MoveProcess>(result.step)) moved.insert(place_of(result.step));
  return moved;
}

std::string described(const HealKey& key, const HealCount& heal) {
  const auto delay = std::chrono::duration_cast<seconds>(heal.contest->delay).count();
  const bool task = !group_of(key, heal);
  const auto what = task ? key.what : fmt::format("{} of {}", key.what, key.group.str());
  return fmt::format("{}: somebody else {} '{}' again and again{}; it is left alone for {} s", what,
                     task ? "moves it to" : "writes", escaped(heal.contest->found),
                     task ? "" : fmt::format(" where '{}' was written", escaped(heal.written)),
                     delay);
}

}  // namespace

std::vector<Repair> count_heals(Record& record, const Observed& observed, const Report& report,
                                unsigned round, Instant now) {
  auto counts = record.heals.counts();
  forget_made(counts, report);
  std::erase_if(counts, [&](const auto& entry) {
    return forgotten(entry.first, entry.second, observed, now);
  });
  const auto touched = planned(report);
  for (auto& [key, heal] : counts) {
    calm(heal, now);
    // While it is left alone it is in no plan.
    if (heal.contest->quiet_until <= now && !touched.contains(key)) found_held(heal, round);
  }
  std::vector<Repair> repairs;
  Ordinary ordinary(observed, moved_by(report));
  for (const auto& [key, doing] : doings_of(report, ordinary))
    if (count(counts[key], doing, round, now) && !doing.nobodys) repairs.push_back(doing.repair);
  record.heals = Heals(counts);
  return repairs;
}

std::optional<Condition> contest_condition(const Record& record) {
  if (!record.heals.contested()) return std::nullopt;
  std::string text;
  unsigned more = 0;
  const auto counts = record.heals.counts();
  for (const auto& [key, heal] : counts) {
    if (heal.contest->delay == Instant(0)) continue;
    if (text.empty())
      text = described(key, heal);
    else
      ++more;
  }
  if (text.empty()) return std::nullopt;
  if (more > 0) text += fmt::format("; and {} more", more);
  return Condition{ConditionName::contested, text};
}

Plan without_contested(const Plan& plan, const Record& record, const Observed& observed,
                       Instant now) {
  const bool contested = record.heals.wake(now).has_value();
  const auto counts = contested ? record.heals.counts() : HealCounts();
  Moved moved;
  std::map<HealKey, std::string> wish;  // what the plan leaves in the end
  for (const auto& step : plan.steps) {
    if (!contested) break;
    if (is<op::MoveProcess>(step)) moved.insert(place_of(step));
    if (auto key = counted_by(step)) wish[std::move(*key)] = value_of(step);
  }
  Ordinary ordinary(observed, moved);
  const auto left_alone = [&](const Step& step) {
    if (!contested) return false;
    const auto key = counted_by(step);
    if (!key || ordinary(step)) return false;
    const auto heal = counts.find(*key);
    return heal != counts.end() && heal->second.contest->quiet_until > now &&
           heal->second.written == wish[*key];
  };
  Moved left;  // processes that stay where they are, and their threads with them
  Plan rest;
  for (const auto& step : plan.steps) {
    if (by_systemd(step) && record.scope->tries > 0 && now < record.scope->due) continue;
    if (is<op::MoveThread>(step) && left.contains(place_of(step))) continue;
    if (!left_alone(step))
      rest.steps.push_back(step);
    else if (is<op::MoveProcess>(step))
      left.insert(place_of(step));
  }
  return rest;
}

}  // namespace kcg
