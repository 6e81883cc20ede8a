// SPDX-License-Identifier: Apache-2.0
//
// diff(): whole processes first, then single threads in one burst.
#include <algorithm>

#include "plan/diff_parts.hpp"

namespace kcg::steps {

namespace {

const Process* find_process(const Observed& observed, const TaskKey& key) {
  for (const auto& process : observed.processes)
    if (process.facts.key == key) return &process;
  return nullptr;
}

const std::string& group_now(const Thread& thread, std::size_t hierarchy) {
  static const std::string kNowhere;
  return hierarchy < thread.facts.groups.size() ? thread.facts.groups[hierarchy] : kNowhere;
}

bool is_within(const std::string& group, const CgroupPath& top) {
  const auto path = CgroupPath::parse(group);
  return path && path->within(top);
}

/// Of the legacy layout on v1 a vCPU's place is not within the others', and a leader may be one.
bool with_us(const WantedProcess& wanted, const std::string& leaders, std::size_t hierarchy) {
  if (is_within(leaders, *wanted.top[hierarchy])) return true;
  if (wanted.threads.empty()) return false;
  const auto& own = wanted.threads.front().paths[hierarchy];
  return own && own->str() == leaders;
}

/// True for a process that was just born somewhere else among our groups, as a VMM is in the class
/// group of its shim.
bool none_in_place(const WantedProcess& wanted, const Process& process, std::size_t hierarchy) {
  const auto count = std::min(wanted.threads.size(), process.threads.size());
  for (std::size_t t = 0; t < count; ++t) {
    const auto& place = wanted.threads[t].paths[hierarchy];
    if (place && place->str() == group_now(process.threads[t], hierarchy)) return false;
  }
  return true;
}

}  // namespace

void Steps::move(const WantedProcess& process, std::size_t hierarchy, const Thread& leader) {
  const GroupRef to{observed_.host.hierarchies[hierarchy].name, *process.home[hierarchy]};
  add(to, op::MoveProcess{{process.key, process.cls, group_now(leader, hierarchy)}});
  moved_.insert({process.key, hierarchy});
}

void Steps::move_processes() {
  for (const auto& wanted : desired_.processes) {
    const auto* process = find_process(observed_, wanted.key);
    if (process == nullptr || process->threads.empty()) continue;
    const auto& leader = process->threads.front();
    for (std::size_t i = 0; i < wanted.home.size(); ++i) {
      if (!wanted.home[i]) continue;
      if (!with_us(wanted, group_now(leader, i), i) || none_in_place(wanted, *process, i))
        move(wanted, i, leader);
    }
  }
}

void Steps::move_threads() {
  for (const auto& wanted : desired_.processes) {
    const auto* process = find_process(observed_, wanted.key);
    if (process == nullptr) continue;
    const auto count = std::min(wanted.threads.size(), process->threads.size());
    for (std::size_t t = 0; t < count; ++t) {
      const auto& member = wanted.threads[t];
      const auto& thread = process->threads[t];
      for (std::size_t i = 0; i < member.paths.size(); ++i) {
        if (!member.paths[i]) continue;
        const auto& hierarchy = observed_.host.hierarchies[i];
        const bool moved = moved_.contains({wanted.key, i});
        const std::string_view now = moved ? wanted.home[i]->str() : group_now(thread, i);
        if (now == member.paths[i]->str()) continue;
        const GroupRef to{hierarchy.name, *member.paths[i]};
        const bool v1 = !hierarchy.unified;
        add(to, op::MoveThread{{member.key, member.cls, std::string(now)}, wanted.key.pid, v1});
      }
    }
  }
}

}  // namespace kcg::steps
