// SPDX-License-Identifier: Apache-2.0
#include "observe/processes.hpp"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <map>
#include <set>

#include "base/text.hpp"
#include "identify/classify.hpp"
#include "identify/kernel_worker.hpp"
#include "identify/orphan.hpp"
#include "identify/prove.hpp"
#include "model/errnos.hpp"

namespace kcg {

namespace {

/// More candidates than this are not a sandbox's processes any more.
constexpr std::size_t kMaxCandidates = 4096;

std::set<Pid> roots(const Record& record, const std::vector<Pid>& inside,
                    const SandboxInputs& inputs) {
  std::set<Pid> pids(inside.begin(), inside.end());
  pids.insert(record.shim_candidates.begin(), record.shim_candidates.end());
  for (const auto& trusted : record.trusted) pids.insert(trusted.key.pid);
  if (inputs.bundle && inputs.bundle->shim_pid) pids.insert(*inputs.bundle->shim_pid);
  if (inputs.registration && inputs.registration->shim) pids.insert(inputs.registration->shim->pid);
  if (inputs.registration && inputs.registration->vmm) pids.insert(inputs.registration->vmm->pid);
  return pids;
}

/// From the roots to everything that belongs to them. Nothing is walked below a process that is not
/// proven, and of such a one not even the command line is read: whoever is no shim, and in no group
/// of ours, may have ten thousand children and megabytes of arguments.
class Search final {
 public:
  Search(ProcView& proc, const Inside& inside, FlatSet<Trusted>& trusted, Observed& observed)
      : proc_(proc), inside_(inside), trusted_(trusted), observed_(observed) {}

  std::vector<ProcFacts> from(const std::set<Pid>& roots) {
    for (const Pid pid : roots) start(pid);
    while (!queue_.empty() && !full()) {
      const Pid pid = queue_.front();
      queue_.pop_front();
      walk(pid);
    }
    if (full())
      observed_.unread_processes.push_back(
          fmt::format("it has {} processes or more", kMaxCandidates));
    std::vector<ProcFacts> all;
    for (auto& [pid, facts] : found_) all.push_back(std::move(facts));
    return all;
  }

 private:
  template <class T>
  [[nodiscard]] bool readable(const Result<T>& result) {
    if (!result && !errnos::no_task(result.error().code))
      observed_.unread_processes.push_back(result.error().text);
    return result.has_value();
  }

  [[nodiscard]] bool known(const TaskKey& key) const {
    return std::any_of(trusted_.begin(), trusted_.end(),
                       [&](const Trusted& trusted) { return trusted.key == key; });
  }

  [[nodiscard]] bool in_our_group(Pid pid) const {
    return std::binary_search(inside_.ours.begin(), inside_.ours.end(), pid);
  }

  [[nodiscard]] bool full() const { return found_.size() >= kMaxCandidates; }

  void start(Pid pid) {
    auto who = proc_.identity(pid);
    if (!readable(who)) return;
    const bool alone = may_be_orphan(*who, in_our_group(pid));
    const bool worth = known(who->key) || alone || !standing_problem(*who, observed_.inputs);
    if (!worth) {
      found_.emplace(pid, std::move(*who));
      return;
    }
    auto facts = who->args_unknown.empty() ? std::move(who) : proc_.facts(pid);
    if (!readable(facts)) return;
    note_command_line(*facts);
    // The daemon was started again after the shim had died.
    if (const auto found = alone ? orphan(*facts, observed_.inputs.id) : std::nullopt)
      trusted_.insert(*found);
    const bool proven = !prove(observed_.inputs, {*facts}, trusted_).empty();
    found_.insert_or_assign(pid, std::move(*facts));
    if (!proven) return;
    complete_.insert(pid);
    queue_.push_back(pid);
  }

  void walk(Pid pid) {
    if (!walked_.insert(pid).second) return;
    const auto children = proc_.children(pid);
    if (!readable(children)) return;
    for (const Pid child : *children) {
      if (full()) return;
      if (!complete_.insert(child).second) continue;
      auto facts = proc_.facts(child);
      if (!readable(facts)) continue;
      note_command_line(*facts);
      found_.insert_or_assign(child, std::move(*facts));
      queue_.push_back(child);
    }
  }

  void note_command_line(const ProcFacts& facts) {
    if (facts.args_unknown.empty() || !noted_.insert(facts.key.pid).second) return;
    observed_.unread_processes.push_back(
        fmt::format("process {} ({}): {}", facts.key.pid, escaped(facts.comm), facts.args_unknown));
  }

  ProcView& proc_;
  const Inside& inside_;
  FlatSet<Trusted>& trusted_;
  Observed& observed_;
  std::map<Pid, ProcFacts> found_;
  std::set<Pid> walked_;
  std::set<Pid> complete_;  ///< in found_ with all that there is, and in the queue or walked
  std::set<Pid> noted_;
  std::deque<Pid> queue_;
};

/// Of a process with more threads than we are willing to handle: its leader, and those of which KVM
/// says that they are vCPUs.
Result<std::vector<ThreadFacts>> chosen_threads(ProcView& proc, const Config& config, Pid pid,
                                                const TaskKey& key, const Host& host) {
  const auto tids = proc.tids(pid);
  if (!tids) return forward(tids.error());
  std::vector<ThreadFacts> all(tids->size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i].key.pid = (*tids)[i];
  std::vector<Pid> wanted{pid};
  if (const auto vcpus = proc.kvm_vcpus(key, all))
    for (const auto& [number, tid] : vcpus->tid_of)
      if (tid != pid && std::binary_search(tids->begin(), tids->end(), tid)) wanted.push_back(tid);
  std::vector<ThreadFacts> found;
  for (const Pid tid : wanted) {
    if (found.size() >= config.limits.max_threads_per_sandbox) break;
    auto thread = proc.thread(pid, tid, host);
    if (thread)
      found.push_back(std::move(*thread));
    else if (!errnos::no_task(thread.error().code) || tid == pid)
      return forward(thread.error());
  }
  return found;
}

/// ESRCH: it ended. The threads of a killed process end one by one: without its leader it is no
/// process any more.
Result<std::vector<ThreadFacts>> living_threads(ProcView& proc, const Config& config, Pid pid,
                                                const Host& host) {
  auto threads = proc.threads(pid, host, config.limits.max_threads_per_sandbox);
  if (threads && threads->front().key.pid != pid) return fail(ESRCH, "{} has ended", pid);
  return threads;
}

void take_in(Process& process, const std::vector<ThreadFacts>& threads, const KvmVcpus& vcpus,
             Observed& observed) {
  observed.kvm_incomplete = observed.kvm_incomplete || incomplete(vcpus);
  process.threads = classify(process.role, process.hypervisor, threads, vcpus);
  if (process.role != ProcessRole::vmm) return;
  observed.kvm_directory = vcpus.directory;
  observed.vcpus_missing = vcpus_missing(process.threads, vcpus);
}

/// What KVM and, where that is not all, the threads themselves tell.
Result<KvmVcpus> all_vcpus_of(ProcView& proc, const Process& process,
                              std::vector<ThreadFacts>& threads) {
  if (!runs_vm(process.role, process.hypervisor)) return KvmVcpus{};
  auto vcpus = vcpus_of(proc, process.facts.key, threads);
  if (vcpus) ask_for_hints(proc, process, *vcpus, threads);
  return vcpus;
}

/// False: the process has ended.
bool add_threads(ProcView& proc, const Config& config, Process& process, Observed& observed) {
  const auto& key = process.facts.key;
  auto threads = living_threads(proc, config, key.pid, observed.host);
  if (!threads && threads.error().code == EOVERFLOW) {
    observed.conditions.push_back(
        {ConditionName::input_unreadable,
         fmt::format("{}: it is placed as a whole, its vCPUs where KVM tells them; raise [limits] "
                     "max_threads_per_sandbox",
                     threads.error().text)});
    threads = chosen_threads(proc, config, key.pid, key, observed.host);
  }
  if (!threads) {
    if (errnos::no_task(threads.error().code)) return false;
    observed.unread_processes.push_back(threads.error().text);
    return true;
  }
  const auto& unknown = process.facts.args_unknown;  // and with it which hypervisor this is
  auto vcpus =
      unknown.empty() ? all_vcpus_of(proc, process, *threads) : fail(EAGAIN, "{}", unknown);
  if (!vcpus) {  // no thread is taken from where it is: the leader alone tells where they are
    if (unknown.empty()) observed.unread_processes.push_back(vcpus.error().text);
    threads->resize(1);
    vcpus = KvmVcpus{};
  }
  take_in(process, *threads, *vcpus, observed);
  return true;
}

bool proven(const std::vector<Process>& processes, const TaskKey& key) {
  return std::any_of(processes.begin(), processes.end(),
                     [&](const Process& process) { return process.facts.key == key; });
}

/// As it was seen; nullptr: it was not.
template <class Same>
const ThreadFacts* known(const Process& process, Same same) {
  const auto found = std::find_if(process.threads.begin(), process.threads.end(),
                                  [&](const Thread& thread) { return same(thread.facts.key); });
  return found == process.threads.end() ? nullptr : &found->facts;
}

/// Those that were known stand where they stood. nullopt: one cannot be read, or the process has
/// ended.
std::optional<std::vector<ThreadFacts>> with_groups(ProcView& proc, const Process& process,
                                                    const ThreadsRead::OfOne& read,
                                                    const Host& host) {
  const auto& key = process.facts.key;
  std::vector<ThreadFacts> found;
  for (const Pid tid : read.others) {
    const auto* before = known(process, [&](const TaskKey& one) { return one.pid == tid; });
    if (before == nullptr) return std::nullopt;
    found.push_back(*before);
  }
  for (const auto& thread : read.threads) {
    if (const auto* before =
            known(process, [&](const TaskKey& one) { return one == thread.key; })) {
      auto& facts = found.emplace_back(thread);
      facts.groups = before->groups;
      facts.cpu_ticks = before->cpu_ticks;
      continue;
    }
    auto facts = proc.thread(key.pid, thread.key.pid, host);
    if (facts && facts->key == thread.key)
      found.push_back(std::move(*facts));
    else if (!facts && !errnos::no_task(facts.error().code))
      return std::nullopt;
  }
  // As a look lists them: the leader first, then by their ids.
  std::sort(found.begin(), found.end(), [&](const ThreadFacts& a, const ThreadFacts& b) {
    return std::pair(a.key != key, a.key.pid) < std::pair(b.key != key, b.key.pid);
  });
  if (found.empty() || found.front().key != key) return std::nullopt;
  return found;
}

/// Who sits among us and is not proven; not who is just ending.
std::vector<Process> strangers(ProcView& proc, const Config& config,
                               const std::vector<ProcFacts>& facts, const Inside& inside,
                               const Observed& observed) {
  std::vector<Process> found;
  for (const auto& one : facts) {
    const bool in_group = std::binary_search(inside.all.begin(), inside.all.end(), one.key.pid);
    if (!in_group || proven(observed.processes, one.key)) continue;
    // In our groups it disturbs nobody; in Kata's scope it keeps controllers from being enabled.
    if (one.kernel_thread &&
        std::binary_search(inside.ours.begin(), inside.ours.end(), one.key.pid))
      continue;
    const auto threads = living_threads(proc, config, one.key.pid, observed.host);
    if (!threads && errnos::no_task(threads.error().code)) continue;
    found.emplace_back().facts = one;
  }
  return found;
}

/// Kernel threads that were made for what is proven: they stay where that was then.
void add_kernel_workers(ProcView& proc, const Config& config, const std::vector<ProcFacts>& facts,
                        const Inside& inside, Observed& observed) {
  for (const auto& one : facts) {
    const bool in_group = std::binary_search(inside.all.begin(), inside.all.end(), one.key.pid);
    if (!in_group || !works_for(one, observed.processes)) continue;
    Process worker;
    worker.facts = one;
    worker.role = ProcessRole::kernel_worker;
    if (add_threads(proc, config, worker, observed)) observed.processes.push_back(worker);
  }
}

}  // namespace

Result<KvmVcpus> vcpus_of(ProcView& proc, const TaskKey& vmm,
                          const std::vector<ThreadFacts>& threads) {
  auto vcpus = proc.kvm_vcpus(vmm, threads);
  if (!vcpus && errnos::no_task(vcpus.error().code)) return KvmVcpus{};
  return vcpus;
}

void ask_for_hints(ProcView& proc, const Process& process, const KvmVcpus& vcpus,
                   std::vector<ThreadFacts>& threads) {
  if (!hints_tell_more(process.hypervisor, threads, vcpus)) return;
  proc.mark_vcpu_hints(process.facts.key.pid, threads, [&](const ThreadFacts& thread) {
    return hints_that_tell(process.hypervisor, thread, vcpus);
  });
}

void observe_processes(ProcView& proc, const Config& config, const Record& record,
                       const Inside& inside, Observed& observed) {
  auto trusted = record.trusted;
  const auto facts =
      Search(proc, inside, trusted, observed).from(roots(record, inside.all, observed.inputs));
  observed.processes = prove(observed.inputs, facts, trusted);
  // One that ended between the two looks has no threads any more.
  std::erase_if(observed.processes,
                [&](Process& process) { return !add_threads(proc, config, process, observed); });
  add_kernel_workers(proc, config, facts, inside, observed);
  observed.foreign = strangers(proc, config, facts, inside, observed);
}

bool observe_threads(ProcView& proc, const Observed& last, const ThreadsRead& read,
                     Observed& observed) {
  observed.processes = last.processes;
  observed.foreign = last.foreign;
  std::size_t taken = 0;
  for (auto& process : observed.processes) {
    const auto one = std::find_if(
        read.processes.begin(), read.processes.end(),
        [&](const ThreadsRead::OfOne& read_one) { return read_one.process == process.facts.key; });
    const bool vm = runs_vm(process.role, process.hypervisor);
    if (one == read.processes.end() && vm) return false;
    if (one == read.processes.end()) continue;
    auto threads = with_groups(proc, process, *one, observed.host);
    if (!threads) return false;
    if (vm) ask_for_hints(proc, process, one->vcpus, *threads);
    take_in(process, *threads, one->vcpus, observed);
    ++taken;
  }
  return taken == read.processes.size();
}

}  // namespace kcg
