// SPDX-License-Identifier: Apache-2.0
#include "pass/moved.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "model/errnos.hpp"

namespace kcg {

namespace {

/// By hierarchy and thread.
using Places = std::map<std::pair<HierarchyName, Pid>, GroupRef>;

/// nullopt: a process that was moved is gone, or cannot be read.
std::optional<Places> places_of(ProcView& proc, const std::vector<Step>& moves) {
  Places places;
  std::map<Pid, std::vector<Pid>> threads;
  for (const auto& step : moves) {
    const auto& task = move_of(step)->task;
    if (!is<op::MoveProcess>(step)) {
      places[{step.group.hierarchy, task.pid}] = step.group;
      continue;
    }
    const auto [known, fresh] = threads.try_emplace(task.pid);
    if (fresh) {
      auto tids = proc.tids(task.pid);
      if (!tids) return std::nullopt;
      known->second = std::move(*tids);
    }
    for (const Pid tid : known->second) places[{step.group.hierarchy, tid}] = step.group;
  }
  return places;
}

Result<std::set<Pid>> members_of(const CgroupTree& tree, const GroupRef& group) {
  const auto* hierarchy = tree.host().find(group.hierarchy);
  const bool unified = hierarchy != nullptr && hierarchy->unified;
  const auto text = tree.read(group, unified ? "cgroup.threads" : "tasks");
  if (!text) return forward(text.error());
  std::set<Pid> members;
  for (const auto word : words(*text))
    if (const auto tid = parse_pid(word)) members.insert(*tid);
  return members;
}

bool has_ended(ProcView& proc, Pid tid) {
  const auto stat = proc.stat(tid);
  return stat ? stat->state == 'Z' || stat->state == 'X' : errnos::no_task(stat.error().code);
}

}  // namespace

std::vector<Step> moves_of(const Plan& plan) {
  std::vector<Step> moves;
  std::copy_if(plan.steps.begin(), plan.steps.end(), std::back_inserter(moves),
               [](const Step& step) { return move_of(step) != nullptr; });
  return moves;
}

void take_in_moves(Round& round) {
  const auto& hierarchies = round.observed.host.hierarchies;
  for (const auto& result : round.report.results) {
    const auto* move = move_of(result.step);
    const auto* hierarchy = round.observed.host.find(result.step.group.hierarchy);
    if (move == nullptr || result.outcome != Outcome::done || hierarchy == nullptr) continue;
    const auto index = static_cast<std::size_t>(hierarchy - hierarchies.data());
    const bool whole = is<op::MoveProcess>(result.step);
    for (auto& process : round.observed.processes)
      for (auto& thread : process.threads)
        if ((whole ? process.facts.key : thread.facts.key) == move->task)
          thread.facts.groups.at(index) = result.step.group.path.str();
  }
}

bool moves_hold(const CgroupTree& tree, ProcView& proc, const std::vector<Step>& moves) {
  const auto places = places_of(proc, moves);
  if (!places) return false;
  std::map<GroupRef, std::set<Pid>> members;
  for (const auto& [task, group] : *places) {
    const auto [known, fresh] = members.try_emplace(group);
    if (fresh) {
      auto found = members_of(tree, group);
      if (!found) return false;
      known->second = std::move(*found);
    }
    if (!known->second.contains(task.second) && !has_ended(proc, task.second)) return false;
  }
  return true;
}

}  // namespace kcg
