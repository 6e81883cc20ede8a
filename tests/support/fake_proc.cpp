// SPDX-License-Identifier: Apache-2.0
#include "support/fake_proc.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "identify/prove.hpp"

namespace kcg::test {

namespace {

tl::unexpected<Error> no_task(Pid pid) {
  return fail(ESRCH, "/proc/{}: {}", pid, errno_text(ESRCH));
}

tl::unexpected<Error> unreadable(Pid pid, int code) {
  return fail(code, "/proc/{}: {}", pid, errno_text(code));
}

void load(ProcFacts& facts, const Program& program) {
  facts.comm = program.comm;
  facts.exe = program.exe;
  facts.args = program.args;
  facts.cwd = program.cwd;
}

}  // namespace

FakeProc::FakeProc(FakeTree& tree) : tree_(tree) {
  start_as(1, 0, {"systemd", "/usr/lib/systemd/systemd", {"/sbin/init"}});
}

Result<std::vector<Pid>> FakeProc::pids() {
  if (const int code = fault()) return unreadable(0, code);
  std::vector<Pid> found;
  for (const auto& [pid, facts] : processes_) found.push_back(pid);
  return found;
}

Result<TaskStat> FakeProc::stat(Pid pid) {
  if (const int code = fault()) return unreadable(pid, code);
  const auto it = threads_.find(pid);
  if (it == threads_.end()) return no_task(pid);
  const auto& thread = it->second;
  const auto ending = ending_.find(thread.pid);
  const char state = ending == ending_.end() ? 'S' : ending->second;
  return TaskStat{thread.facts.key, processes_.at(thread.pid).ppid, thread.facts.comm, state,
                  thread.facts.guest_ticks};
}

Result<TaskStat> FakeProc::thread_stat(Pid pid, Pid tid) {
  const auto it = threads_.find(tid);
  if (it != threads_.end() && it->second.pid != pid) return no_task(tid);
  return stat(tid);
}

std::vector<Result<TaskName>> FakeProc::names(const std::vector<Pid>& pids) {
  std::vector<Result<TaskName>> names;
  for (const Pid pid : pids)
    names.push_back(
        stat(pid).map([](const TaskStat& stat) { return TaskName{stat.comm, stat.ppid}; }));
  return names;
}

Result<ProcFacts> FakeProc::identity(Pid pid) {
  if (const int code = fault()) return unreadable(pid, code);
  looked_at_.insert(pid);
  const auto it = processes_.find(pid);
  if (it == processes_.end() || ending_.contains(pid)) return no_task(pid);
  auto facts = it->second;
  facts.args.clear();
  facts.args_unknown = "the command line was not looked at";
  return facts;
}

Result<ProcFacts> FakeProc::facts(Pid pid) {
  if (const int code = fault()) return unreadable(pid, code);
  looked_at_.insert(pid);
  const auto it = processes_.find(pid);
  if (it == processes_.end() || ending_.contains(pid)) return no_task(pid);
  auto facts = it->second;
  if (!facts.args_unknown.empty()) facts.args.clear();
  facts.args = telling_args(facts.exe, facts.args);
  return facts;
}

Result<std::vector<Pid>> FakeProc::children(Pid pid) {
  if (const int code = fault()) return unreadable(pid, code);
  walked_.insert(pid);
  if (const auto happens = std::exchange(meanwhile_, {})) happens();
  if (!processes_.contains(pid)) return no_task(pid);
  std::vector<Pid> found;
  for (const auto& [child, facts] : processes_)
    if (facts.ppid == pid) found.push_back(child);
  return found;
}

Result<std::vector<ThreadFacts>> FakeProc::threads(Pid pid, const Host& host, std::size_t max) {
  if (const int code = fault()) return unreadable(pid, code);
  if (!processes_.contains(pid) || ending_.contains(pid)) return no_task(pid);
  const auto process = processes_.at(pid).key;
  auto ahead = ahead_.take(process);
  std::vector<ThreadFacts> found;
  for (const auto& [tid, thread] : threads_) {
    if (thread.pid != pid) continue;
    const auto read = ahead.find(tid);
    found.push_back(read == ahead.end() ? with_groups(thread.facts, host)
                                        : std::move(read->second.facts));
  }
  if (found.size() > max) return fail(EOVERFLOW, "/proc/{}/task: {} threads", pid, found.size());
  std::stable_partition(found.begin(), found.end(),
                        [pid](const ThreadFacts& thread) { return thread.key.pid == pid; });
  return found;
}

bool FakeProc::read_ahead(const TaskKey& process, const Host& host,
                          const std::function<bool()>& stop) {
  if (!processes_.contains(process.pid) || processes_.at(process.pid).key != process) return true;
  if (!ahead_.large(tree_.threads_of(process.pid).size())) return true;
  const auto read = [&](Pid tid) -> std::optional<ThreadAhead> {
    if (tid == process.pid || fault() != 0 || !threads_.contains(tid)) return std::nullopt;
    return ThreadAhead{with_groups(threads_.at(tid).facts, host), {}};
  };
  return ahead_.read(process, tree_.threads_of(process.pid), read, stop);
}

Result<std::vector<Pid>> FakeProc::tids(Pid pid) {
  if (const int code = fault()) return unreadable(pid, code);
  if (!processes_.contains(pid)) return no_task(pid);
  return tree_.threads_of(pid);
}

Result<ThreadFacts> FakeProc::thread(Pid pid, Pid tid, const Host& host) {
  if (const int code = fault()) return unreadable(tid, code);
  const auto it = threads_.find(tid);
  if (it == threads_.end() || it->second.pid != pid) return no_task(tid);
  return with_groups(it->second.facts, host);
}

void FakeProc::mark_vcpu_hints(Pid, std::vector<ThreadFacts>& threads,
                               const std::function<VcpuHints(const ThreadFacts&)>& wanted) {
  for (auto& thread : threads)
    if (wanted(thread).syscall) thread.in_vcpu_ioctl = in_ioctl_.contains(thread.key.pid);
}

ThreadFacts FakeProc::with_groups(ThreadFacts facts, const Host& host) const {
  facts.groups.clear();
  for (const auto& hierarchy : host.hierarchies)
    facts.groups.push_back(tree_.group_of(facts.key.pid, hierarchy.name.str()));
  return facts;
}

Result<std::vector<std::string>> FakeProc::groups(Pid tid, const Host& host) {
  if (const int code = fault()) return unreadable(tid, code);
  const auto it = threads_.find(tid);
  if (it == threads_.end()) return no_task(tid);
  return with_groups(it->second.facts, host).groups;
}

Result<KvmVcpus> FakeProc::kvm_vcpus(const TaskKey& vmm, const std::vector<ThreadFacts>&) {
  if (const int code = fault()) return unreadable(vmm.pid, code);
  if (!debugfs_) return fail(ENOENT, "kvm: {}", errno_text(ENOENT));
  const auto it = vcpus_.find(vmm.pid);
  return it == vcpus_.end() ? KvmVcpus{} : it->second;
}

Pid FakeProc::start(Pid parent, const Program& program) {
  const Pid pid = next_pid_++;
  start_as(pid, parent, program);
  return pid;
}

void FakeProc::start_as(Pid pid, Pid parent, const Program& program) {
  ProcFacts facts;
  facts.ppid = parent;
  facts.same_pid_ns = facts.same_user_ns = facts.same_root = true;
  load(facts, program);
  if (processes_.contains(parent))
    tree_.fork_process(parent, pid);
  else
    tree_.add_process(pid);
  add(pid, pid, program.comm);
  facts.key = key(pid);
  processes_[pid] = std::move(facts);
}

void FakeProc::add(Pid pid, Pid tid, const std::string& comm) {
  last_born_ = tid;
  OneThread thread;
  thread.pid = pid;
  thread.facts.key = {tid, next_start_++};
  thread.facts.comm = comm;
  threads_[tid] = std::move(thread);
}

void FakeProc::exec(Pid pid, const Program& program) {
  load(processes_.at(pid), program);
  rename(pid, program.comm);
}

Pid FakeProc::add_thread(Pid pid, const std::string& comm, Pid creator) {
  const Pid tid = next_pid_++;
  tree_.spawn_thread(pid, tid, creator);
  add(pid, tid, comm.empty() ? thread(creator == 0 ? pid : creator).comm : comm);
  return tid;
}

void FakeProc::exit_thread(Pid tid) {
  tree_.exit_thread(tid);
  threads_.erase(tid);
}

void FakeProc::exit_process(Pid pid) {
  tree_.exit_process(pid);
  std::erase_if(threads_, [pid](const auto& thread) { return thread.second.pid == pid; });
  processes_.erase(pid);
  ending_.erase(pid);
  vcpus_.erase(pid);
  for (auto& [child, facts] : processes_)
    if (facts.ppid == pid) facts.ppid = 1;
}

void FakeProc::set_ending(Pid pid, char state) {
  tree_.exit_process(pid);
  ending_[pid] = state;
}

void FakeProc::set_vcpus(Pid vmm, const std::vector<Pid>& tids) {
  KvmVcpus vcpus;
  if (!tids.empty()) vcpus.directory = fmt::format("/kvm/{}-14", vmm);
  for (std::uint32_t n = 0; n < tids.size(); ++n) vcpus.tid_of[n] = tids[n];
  vcpus_[vmm] = std::move(vcpus);
}

Result<std::uint64_t> FakeProc::charged_memory(Pid pid) {
  if (const int code = fault()) return unreadable(pid, code);
  if (!processes_.contains(pid)) return fail(ESRCH, "no process {}", pid);
  return memory_[pid];
}

Result<std::uint64_t> FakeProc::huge_memory(Pid pid) {
  if (const int code = fault()) return unreadable(pid, code);
  if (!processes_.contains(pid)) return fail(ESRCH, "no process {}", pid);
  return huge_[pid];
}

Result<std::vector<Mapping>> FakeProc::mappings(const TaskKey& process, bool resident) {
  if (const int code = fault()) return unreadable(process.pid, code);
  const auto known = processes_.find(process.pid);
  if (known == processes_.end() || known->second.key != process)
    return fail(ESRCH, "no process {}", process.pid);
  ++mappings_read_.at(resident ? 1 : 0);
  auto found = mappings_[process.pid];
  if (!found) return fail(EAGAIN, "it is being read");
  if (!resident)
    for (auto& mapping : *found) mapping.resident.reset();
  return *std::move(found);
}

}  // namespace kcg::test
