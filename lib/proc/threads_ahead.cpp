// SPDX-License-Identifier: Apache-2.0
#include "proc/threads_ahead.hpp"

#include <utility>

namespace kcg {

void ThreadsAhead::hinted(Pid pid) {
  if (const auto it = processes_.find(pid); it != processes_.end()) it->second.hints = true;
}

bool ThreadsAhead::wants_hints(const TaskKey& process) const {
  const auto it = processes_.find(process.pid);
  return it == processes_.end() || it->second.key != process || it->second.hints;
}

bool ThreadsAhead::read(const TaskKey& process, std::vector<Pid> tids, const Read& read,
                        const std::function<bool()>& stop) {
  auto& known = processes_[process.pid];
  if (known.key != process) {
    known = Process();
    known.key = process;
  }
  if (!std::exchange(known.reading, true)) known.left = std::move(tids);
  for (; !known.left.empty(); known.left.pop_back()) {
    if (stop()) return false;
    const Pid tid = known.left.back();
    if (auto thread = read(tid)) known.threads.emplace(tid, std::move(*thread));
  }
  return true;
}

std::optional<std::vector<Pid>> ThreadsAhead::children(Pid pid, Pid tid) const {
  const auto it = processes_.find(pid);
  if (!used_ || it == processes_.end()) return std::nullopt;
  const auto thread = it->second.threads.find(tid);
  if (thread == it->second.threads.end()) return std::nullopt;
  return thread->second.children;
}

std::unordered_map<Pid, ThreadAhead> ThreadsAhead::take(const TaskKey& process) {
  const auto it = processes_.find(process.pid);
  if (!used_ || it == processes_.end() || it->second.key != process) return {};
  it->second.hints = false;
  auto threads = std::move(it->second.threads);
  drop(process.pid);
  return threads;
}

void ThreadsAhead::drop(Pid pid) {
  const auto it = processes_.find(pid);
  if (it == processes_.end()) return;
  it->second.reading = false;
  it->second.left.clear();
  it->second.threads.clear();
}

}  // namespace kcg
