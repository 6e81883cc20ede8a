// SPDX-License-Identifier: Apache-2.0
#include "proc/kernel_proc.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "base/text.hpp"
#include "identify/prove.hpp"
#include "kernel/cmdline.hpp"
#include "kernel/last_pid.hpp"
#include "kernel/proc_cgroup.hpp"
#include "kernel/proc_status.hpp"
#include "proc/task_files.hpp"

namespace kcg {

namespace {

/// Of a shim, a VMM and their helpers; each is an open directory until its threads are read.
constexpr std::size_t kMostWalked = 16;
/// To ask where all threads of a process are takes as long as to ask one of them.
constexpr std::size_t kManyThreads = 3;

/// The kernel tells the last id of the reader's namespace, /proc shows the tasks of its own: only
/// where both are the same does the one count the births of the other. -1: they are not.
Fd births_file(const Dir& root) {
  const auto status = root.read_kernel(fmt::format("{}/status", ::getpid()));
  if (!status || pid_namespaces(*status) != 1) return {};
  auto file = root.file("loadavg", O_RDONLY);
  return file ? std::move(*file) : Fd();
}

}  // namespace

Result<std::unique_ptr<KernelProc>> KernelProc::open(const std::string& proc_root,
                                                     const std::string& kvm,
                                                     std::size_t max_kept_bytes,
                                                     PatientReader::Limits reading,
                                                     PatientReader::Limits mappings) {
  auto root = Dir::open(proc_root);
  if (!root) return forward(root.error());
  auto own = read_own_identity(proc_root);
  if (!own) return forward(own.error());
  std::optional<TaskNames> names;
  if (proc_root == "/proc")
    if (auto opened = TaskNames::open()) names = std::move(*opened);
  auto births = births_file(*root);
  return std::unique_ptr<KernelProc>(new KernelProc(std::move(*root), std::move(names),
                                                    std::move(births), std::move(*own), kvm,
                                                    max_kept_bytes, reading, mappings));
}

std::vector<Result<TaskName>> KernelProc::names(const std::vector<Pid>& pids) {
  auto told = names_ ? names_->ask(pids) : TaskNames::Answers(pids.size());
  std::vector<Result<TaskName>> names;
  names.reserve(pids.size());
  const auto read = [this](Pid pid) {
    return stat(pid).map([](const TaskStat& stat) { return TaskName{stat.comm, stat.ppid}; });
  };
  for (std::size_t i = 0; i < pids.size(); ++i)
    names.push_back(told[i] ? std::move(*told[i]) : read(pids[i]));
  return names;
}

Result<std::vector<Pid>> KernelProc::pids() { return numbers_in(root_); }

/// The thread's own: that of a process sums up all its threads, each time.
Result<TaskStat> KernelProc::stat(Pid pid) { return thread_stat(pid, pid); }

Result<TaskStat> KernelProc::thread_stat(Pid pid, Pid tid) {
  return task_stat(pid, tid).map([](ProcStat stat) {
    return TaskStat{stat.key(), stat.ppid, std::move(stat.comm), stat.state, stat.guest};
  });
}

/// Below its process the kernel has most of the path already; it makes two inodes more for a tid at
/// the top, and whoever ends has to drop them.
Result<ProcStat> KernelProc::task_stat(Pid pid, Pid tid) {
  return stats_.read(pid, tid, root_, fmt::format("{}/task/{}/stat", pid, tid));
}

std::optional<Pid> KernelProc::last_born() {
  if (!births_) return std::nullopt;
  const auto text = read_kernel_again(births_.get());
  return text ? last_pid(*text) : std::nullopt;
}

/// What is kept of a process counts as long as it is the same one, under the same name.
Result<KernelProc::Seen> KernelProc::see(Pid pid) {
  if (const auto known = facts_.find(pid); known != facts_.end()) {
    const auto stat = this->stat(pid);
    if (!stat) return forward(stat.error());
    auto facts = known->second.facts.whole();
    if (facts.key == stat->key && facts.comm == stat->comm) {
      known->second.used = ++uses_;
      facts.ppid = stat->ppid;  // its parent may have ended
      return Seen{std::nullopt, std::move(facts)};
    }
    (void)drop(known);  // ignored: nothing comes after it
  }
  if (auto again = seen_again(pid)) return std::move(*again);
  auto process = root_.dir(std::to_string(pid));
  if (!process) return forward(gone(process.error(), pid));
  // After it was opened: of whom this tells, if not of the one in there, that one has ended.
  const auto stat = task_stat(pid, pid);
  if (!stat) return forward(stat.error());
  auto facts = read_identity(*process, *stat, own_);
  if (!facts) return forward(gone(facts.error(), pid));
  return Seen{std::move(*process), std::move(*facts)};
}

/// Who was identified last, and is still the same, under the same name.
std::optional<KernelProc::Seen> KernelProc::seen_again(Pid pid) {
  auto last = std::exchange(last_seen_, std::nullopt);
  if (!last || last->facts.key.pid != pid) return std::nullopt;
  const auto stat = task_stat(pid, pid);
  if (!stat || stat->key() != last->facts.key || stat->comm != last->facts.comm)
    return std::nullopt;
  last->facts.ppid = stat->ppid;
  return last;
}

/// Of one who is worth it the command line is asked for at once: that is no reason to read all of
/// this again.
Result<ProcFacts> KernelProc::identity(Pid pid) {
  auto seen = see(pid);
  if (!seen) return forward(seen.error());
  auto facts = seen->facts;
  if (seen->process) last_seen_ = std::move(*seen);
  return facts;
}

Result<ProcFacts> KernelProc::facts(Pid pid) {
  auto seen = see(pid);
  if (!seen) return forward(seen.error());
  auto& facts = seen->facts;
  if (!seen->process) return std::move(facts);
  if (!facts.kernel_thread) {
    auto text = reader_.read(facts.key, [&] { return seen->process->file("cmdline", O_RDONLY); });
    if (!text && text.error().code == ESRCH) return forward(gone(text.error(), pid));
    if (!text) {
      facts.args_unknown = "cmdline: " + text.error().text;
      return std::move(facts);
    }
    // An argument that was cut is none.
    if (text->size() == max_cmdline_) text->resize(text->rfind('\0') + 1);
    facts.args = telling_args(facts.exe, split_cmdline(*text));
  }
  facts.args_unknown.clear();
  // A program that is being executed has its name before its arguments.
  if (facts.kernel_thread || !facts.args.empty()) keep(facts);
  return std::move(facts);
}

void KernelProc::keep(const ProcFacts& facts) {
  Kept kept{Packed(facts), ++uses_};
  const auto size = kept.size();
  while (kept_bytes_ + size > max_kept_bytes_ && !facts_.empty()) {
    std::vector<std::uint64_t> uses;
    for (const auto& [pid, one] : facts_) uses.push_back(one.used);
    const auto quarter = uses.begin() + static_cast<std::ptrdiff_t>(uses.size() / 4);
    std::nth_element(uses.begin(), quarter, uses.end());
    for (auto it = facts_.begin(); it != facts_.end();)
      it = it->second.used <= *quarter ? drop(it) : std::next(it);
  }
  facts_[facts.key.pid] = std::move(kept);
  kept_bytes_ += size;
}

KernelProc::Facts::iterator KernelProc::drop(Facts::iterator one) {
  kept_bytes_ -= one->second.size();
  return facts_.erase(one);
}

void KernelProc::use_ahead(bool use) {
  in_look_ = use;
  walked_.clear();
  ahead_.use(use);
}

Result<KernelProc::Tasks> KernelProc::list(Pid pid) const {
  auto dir = root_.dir(fmt::format("{}/task", pid));
  if (!dir) return forward(gone(dir.error(), pid));
  auto tids = numbers_in(*dir);
  if (!tids) return forward(gone(tids.error(), pid));
  return Tasks{std::move(*dir), std::move(*tids)};
}

Result<std::vector<Pid>> KernelProc::children(Pid pid) {
  auto tasks = list(pid);
  if (!tasks) return forward(tasks.error());
  std::vector<Pid> found;
  for (const Pid tid : tasks->tids) {
    const auto ahead = ahead_.children(pid, tid);
    const auto children = ahead ? *ahead : children_of(tasks->dir, tid);
    if (!children && children.error().code == ENOENT && tid == pid) return children_by_parent(pid);
    // The thread has ended; its children went to another one.
    if (!children && gone(children.error(), tid).code == ESRCH) continue;
    if (!children) return forward(gone(children.error(), tid));
    found.insert(found.end(), children->begin(), children->end());
  }
  std::sort(found.begin(), found.end());
  if (in_look_ && walked_.size() < kMostWalked) walked_.insert_or_assign(pid, std::move(*tasks));
  return found;
}

Result<std::vector<Pid>> KernelProc::children_by_parent(Pid pid) {
  if (auto alive = stat(pid); !alive) return forward(alive.error());
  const auto all = pids();
  if (!all) return forward(all.error());
  std::vector<Pid> found;
  for (const Pid other : *all) {
    const auto one = stat(other);
    if (!one && one.error().code != ESRCH) return forward(one.error());
    if (one && one->ppid == pid) found.push_back(other);
  }
  return found;
}

/// In a look as they were listed when their children were asked for: one that was born since is
/// told.
Result<std::vector<ThreadFacts>> KernelProc::threads(Pid pid, const Host& host, std::size_t max) {
  auto walked = walked_.extract(pid);
  const auto tasks = walked ? Result<Tasks>(std::move(walked.mapped())) : list(pid);
  if (!tasks) return forward(tasks.error());
  const auto& [dir, tids] = *tasks;
  if (tids.size() > max)
    return fail(EOVERFLOW, "/proc/{}/task: {} threads, more than {}", pid, tids.size(), max);
  const auto leader = read_thread(stats_, dir, {pid, pid}, host);
  std::unordered_map<Pid, ThreadAhead> ahead;
  if (leader) ahead = ahead_.take(leader->key);
  const bool together =
      leader && ahead.empty() && tids.size() >= kManyThreads && all_are_with(*leader, host);
  std::vector<ThreadFacts> found;
  found.reserve(tids.size());
  for (const Pid tid : tids) {
    if (const auto read = ahead.find(tid); read != ahead.end()) {
      found.push_back(std::move(read->second.facts));
      continue;
    }
    auto thread = tid == pid ? leader
                  : together ? read_thread(stats_, dir, {pid, tid}, leader->groups)
                             : read_thread(stats_, dir, {pid, tid}, host);
    if (!thread && thread.error().code == ESRCH) continue;
    if (!thread) return forward(thread.error());
    found.push_back(std::move(*thread));
  }
  if (found.empty()) return fail(ESRCH, "/proc/{}: {}", pid, errno_text(ESRCH));
  std::stable_partition(found.begin(), found.end(),
                        [pid](const ThreadFacts& thread) { return thread.key.pid == pid; });
  return found;
}

/// A plain group of v2 holds its processes with all of their threads.
bool KernelProc::all_are_with(const ThreadFacts& leader, const Host& host) {
  if (host.hierarchies.size() != 1 || !host.unified()) return false;
  const auto& group = leader.groups.front();
  if (group.size() <= 1) return false;  // the root has no type
  if (!unified_) {
    auto root = Dir::open(host.hierarchies.front().mount_point);
    if (!root) return false;
    unified_ = std::move(*root);
  }
  const auto type = unified_->read_kernel(group.substr(1) + "/cgroup.type");
  return type && trim(*type) == "domain";
}

Result<std::vector<Pid>> KernelProc::tids(Pid pid) {
  return list(pid).map([](Tasks tasks) { return std::move(tasks.tids); });
}

Result<ThreadFacts> KernelProc::thread(Pid pid, Pid tid, const Host& host) {
  const auto tasks = root_.dir(fmt::format("{}/task", pid));
  if (!tasks) return forward(gone(tasks.error(), pid));
  return read_thread(stats_, *tasks, {pid, tid}, host);
}

void KernelProc::mark_vcpu_hints(Pid pid, std::vector<ThreadFacts>& threads,
                                 const std::function<VcpuHints(const ThreadFacts&)>& wanted) {
  const auto process = root_.dir(std::to_string(pid));
  if (!process) return;
  ahead_.hinted(pid);
  for (auto& thread : threads)
    if (!thread.blocked_signals) mark_hints(*process, wanted(thread), thread);
}

bool KernelProc::read_ahead(const TaskKey& process, const Host& host,
                            const std::function<bool()>& stop) {
  if (!ahead_.large(count_threads(root_, process.pid))) return true;
  const auto dir = root_.dir(std::to_string(process.pid));
  if (!dir) return true;
  const auto tasks = dir->dir("task");
  auto tids = tasks ? numbers_in(*tasks) : forward(tasks.error());
  if (!tids) return true;  // threads() tells why
  const bool hints = ahead_.wants_hints(process);
  const auto read = [&](Pid tid) -> std::optional<ThreadAhead> {
    auto facts = read_thread(stats_, *tasks, {process.pid, tid}, host);
    auto children = children_of(*tasks, tid);
    if (!facts || !children || tid == process.pid) return std::nullopt;
    if (hints) mark_hints(*dir, {true, true}, *facts);
    return ThreadAhead{std::move(*facts), std::move(*children)};
  };
  return ahead_.read(process, std::move(*tids), read, stop);
}

Result<std::vector<std::string>> KernelProc::groups(Pid tid, const Host& host) {
  const auto text = root_.read_kernel(fmt::format("{}/cgroup", tid));
  if (!text) return forward(gone(text.error(), tid));
  return groups_for(host, *text);
}

Result<std::uint64_t> KernelProc::charged_memory(Pid pid) {
  const auto text = root_.read_kernel(fmt::format("{}/status", pid));
  if (!text) return forward(gone(text.error(), pid));
  return parse_charged_memory(*text);
}

Result<std::uint64_t> KernelProc::huge_memory(Pid pid) {
  const auto text = root_.read_kernel(fmt::format("{}/status", pid));
  if (!text) return forward(gone(text.error(), pid));
  return parse_huge_memory(*text);
}

Result<std::vector<Mapping>> KernelProc::mappings(const TaskKey& process, bool resident) {
  const auto open_file = [&]() -> Result<Fd> {
    const auto dir = root_.dir(std::to_string(process.pid));
    if (!dir) return forward(gone(dir.error(), process.pid));
    const auto stat = read_stat(*dir, "stat");
    if (!stat) return forward(gone(stat.error(), process.pid));
    if (stat->key() != process) return fail(ESRCH, "/proc/{}: another process", process.pid);
    return dir->file(resident ? "smaps" : "maps", O_RDONLY);
  };
  const auto text = mappings_reader_.read(process, open_file);
  if (!text) return forward(gone(text.error(), process.pid));
  if (text->size() == max_mappings_)
    return fail(EFBIG, "/proc/{}: its mappings take more than {} bytes", process.pid, text->size());
  return parse_mappings(*text);
}

Result<KvmVcpus> KernelProc::kvm_vcpus(const TaskKey& vmm,
                                       const std::vector<ThreadFacts>& threads) {
  return kvm_.vcpus(vmm, threads);
}

void KernelProc::forget_all_but(const std::vector<Pid>& living) {
  const auto ended = [&living](const TaskKey& key) {
    return !std::binary_search(living.begin(), living.end(), key.pid);
  };
  for (auto it = facts_.begin(); it != facts_.end();)
    it = ended({it->first, 0}) ? drop(it) : std::next(it);
  reader_.forget_if(ended);
  mappings_reader_.forget_if(ended);
  ahead_.forget_if(ended);
}

void KernelProc::forget(Pid pid) {
  if (last_seen_ && last_seen_->facts.key.pid == pid) last_seen_.reset();
  if (const auto known = facts_.find(pid); known != facts_.end())
    (void)drop(known);  // ignored: nothing comes after it
  reader_.forget(pid);
  mappings_reader_.forget(pid);
  ahead_.forget(pid);
  kvm_.forget(pid);
}

}  // namespace kcg
