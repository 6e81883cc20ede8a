// SPDX-License-Identifier: Apache-2.0
#include "proc/kernel_proc.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/text.hpp"
#include "kernel/proc_cgroup.hpp"
#include "kernel/proc_status.hpp"
#include "proc/vcpu_syscall.hpp"

namespace kcg {

namespace {

/// /proc says ENOENT for a task that is not there, and ESRCH for one that has ended since.
Error gone(Error error, Pid pid) {
  if (error.code == ENOENT) error.code = ESRCH;
  error.text = fmt::format("/proc/{}: {}", pid, error.text);
  return error;
}

Result<ProcStat> read_stat(const Dir& dir, const std::string& path) {
  const auto text = dir.read(path);
  if (!text) return forward(text.error());
  return parse_proc_stat(*text);
}

/// Numeric names of a directory, ascending.
Result<std::vector<Pid>> numbers_in(const Dir& dir) {
  const auto entries = dir.list();
  if (!entries) return forward(entries.error());
  std::vector<Pid> found;
  for (const auto& entry : *entries)
    if (const auto pid = parse_pid(entry.name)) found.push_back(*pid);
  std::sort(found.begin(), found.end());
  return found;
}

/// One thread: a read of stat and one of cgroup. ESRCH: it has ended.
Result<ThreadFacts> read_thread(const Dir& tasks, Pid tid, const Host& host) {
  const std::string name = std::to_string(tid);
  const auto text = tasks.read(name + "/cgroup");
  if (!text) return forward(gone(text.error(), tid));
  auto stat = read_stat(tasks, name + "/stat");
  if (!stat) return forward(gone(stat.error(), tid));
  // One that is ending is in no group any more, whatever its cgroup file said just now.
  if (stat->ending()) return fail(ESRCH, "task {} has ended", tid);
  auto groups = groups_for(host, *text);
  if (!groups) return forward(groups.error());
  ThreadFacts facts;
  facts.key = {tid, stat->start};
  facts.comm = std::move(stat->comm);
  facts.groups = std::move(*groups);
  facts.cpu_ticks = stat->utime + stat->stime;
  facts.guest_ticks = stat->guest;
  return facts;
}

bool same(const ProcFacts& facts, const ProcStat& stat) {
  return facts.key == stat.key() && facts.comm == stat.comm;
}

}  // namespace

Result<std::unique_ptr<KernelProc>> KernelProc::open(const std::string& proc_root,
                                                     const std::string& kvm, std::size_t max_kept) {
  auto root = Dir::open(proc_root);
  if (!root) return forward(root.error());
  auto own = read_own_identity(proc_root);
  if (!own) return forward(own.error());
  return std::unique_ptr<KernelProc>(
      new KernelProc(std::move(*root), std::move(*own), kvm, max_kept));
}

Result<std::vector<Pid>> KernelProc::pids() { return numbers_in(root_); }

Result<TaskStat> KernelProc::stat(Pid pid) {
  auto stat = read_stat(root_, fmt::format("{}/stat", pid));
  if (!stat) return forward(gone(stat.error(), pid));
  return TaskStat{stat->key(), stat->ppid, std::move(stat->comm), stat->state};
}

Result<ProcFacts> KernelProc::facts(Pid pid) {
  const auto process = root_.dir(std::to_string(pid));
  if (!process) return forward(gone(process.error(), pid));
  const auto stat = read_stat(*process, "stat");
  if (!stat) return forward(gone(stat.error(), pid));
  if (const auto known = facts_.find(pid); known != facts_.end()) {
    if (same(known->second.facts, *stat)) {
      known->second.used = ++uses_;
      known->second.facts.ppid = stat->ppid;  // its parent may have ended
      return known->second.facts;
    }
    facts_.erase(known);
  }
  auto facts = read_facts(*process, *stat, own_);
  if (!facts) return forward(gone(facts.error(), pid));
  keep(*facts);
  return facts;
}

void KernelProc::keep(const ProcFacts& facts) {
  if (facts_.size() >= max_kept_) {
    std::vector<std::uint64_t> uses;
    for (const auto& [pid, kept] : facts_) uses.push_back(kept.used);
    const auto quarter = uses.begin() + static_cast<std::ptrdiff_t>(uses.size() / 4);
    std::nth_element(uses.begin(), quarter, uses.end());
    std::erase_if(facts_, [last = *quarter](const auto& one) { return one.second.used <= last; });
  }
  facts_[facts.key.pid] = {facts, ++uses_};
}

Result<std::vector<Pid>> KernelProc::children(Pid pid) {
  const auto tasks = root_.dir(fmt::format("{}/task", pid));
  if (!tasks) return forward(gone(tasks.error(), pid));
  const auto tids = numbers_in(*tasks);
  if (!tids) return forward(gone(tids.error(), pid));
  std::vector<Pid> found;
  for (const Pid tid : *tids) {
    const auto text = tasks->read(fmt::format("{}/children", tid));
    if (!text && text.error().code == ENOENT && tid == pid) return children_by_parent(pid);
    if (!text) continue;  // the thread has ended; its children went to another one
    for (const auto word : words(*text))
      if (const auto child = parse_pid(word)) found.push_back(*child);
  }
  std::sort(found.begin(), found.end());
  return found;
}

Result<std::vector<Pid>> KernelProc::children_by_parent(Pid pid) {
  if (auto alive = stat(pid); !alive) return forward(alive.error());
  const auto all = pids();
  if (!all) return forward(all.error());
  std::vector<Pid> found;
  for (const Pid other : *all) {
    const auto one = stat(other);
    if (one && one->ppid == pid) found.push_back(other);
  }
  return found;
}

Result<std::vector<ThreadFacts>> KernelProc::threads(Pid pid, const Host& host, std::size_t max) {
  const auto tasks = root_.dir(fmt::format("{}/task", pid));
  if (!tasks) return forward(gone(tasks.error(), pid));
  const auto tids = numbers_in(*tasks);
  if (!tids) return forward(gone(tids.error(), pid));
  if (tids->size() > max)
    return fail(EOVERFLOW, "/proc/{}/task: {} threads, more than {}", pid, tids->size(), max);
  std::vector<ThreadFacts> found;
  found.reserve(tids->size());
  for (const Pid tid : *tids) {
    auto thread = read_thread(*tasks, tid, host);
    if (!thread && thread.error().code == ESRCH) continue;
    if (!thread) return forward(thread.error());
    found.push_back(std::move(*thread));
  }
  if (found.empty()) return fail(ESRCH, "/proc/{}: {}", pid, errno_text(ESRCH));
  std::stable_partition(found.begin(), found.end(),
                        [pid](const ThreadFacts& thread) { return thread.key.pid == pid; });
  return found;
}

void KernelProc::mark_vcpu_hints(Pid pid, std::vector<ThreadFacts>& threads) {
  const auto process = root_.dir(std::to_string(pid));
  if (!process) return;
  for (auto& thread : threads) {
    thread.in_vcpu_ioctl = in_vcpu_ioctl(*process, thread.key.pid);
    const auto status = process->read(fmt::format("task/{}/status", thread.key.pid));
    const auto mask = status ? parse_blocked_signals(*status) : forward(status.error());
    thread.blocked_signals = mask ? std::optional(*mask) : std::nullopt;
  }
}

Result<std::vector<std::string>> KernelProc::groups(Pid tid, const Host& host) {
  const auto text = root_.read(fmt::format("{}/cgroup", tid));
  if (!text) return forward(gone(text.error(), tid));
  return groups_for(host, *text);
}

Result<std::uint64_t> KernelProc::charged_memory(Pid pid) {
  const auto text = root_.read(fmt::format("{}/status", pid));
  if (!text) return forward(gone(text.error(), pid));
  return parse_charged_memory(*text);
}

Result<KvmVcpus> KernelProc::kvm_vcpus(const TaskKey& vmm,
                                       const std::vector<ThreadFacts>& threads) {
  return kvm_.vcpus(vmm, threads);
}

void KernelProc::forget_ended() {
  std::erase_if(facts_, [this](const auto& kept) {
    const auto now = stat(kept.first);
    return !now || now->key != kept.second.facts.key;
  });
}

void KernelProc::forget(Pid pid) {
  facts_.erase(pid);
  kvm_.forget(pid);
}

}  // namespace kcg
