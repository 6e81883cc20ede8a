// SPDX-License-Identifier: Apache-2.0
#include "pass/glance.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "apply/apply.hpp"
#include "identify/classify.hpp"
#include "model/errnos.hpp"
#include "model/ticks.hpp"
#include "observe/processes.hpp"
#include "pass/moved.hpp"
#include "plan/warm.hpp"

namespace kcg {

namespace {

bool by_key(const ThreadSeen& a, const ThreadSeen& b) { return a.key < b.key; }

void note(ProcessSeen& seen, const std::vector<Thread>& threads) {
  seen.threads.clear();
  for (const auto& [facts, cls, by] : threads)
    seen.threads.push_back({facts.key, cls, by, named_vcpu(seen.hypervisor, facts.comm)});
  std::sort(seen.threads.begin(), seen.threads.end(), by_key);
}

ProcessSeen seen_of(const Process& process, Instant since) {
  ProcessSeen seen;
  seen.key = process.facts.key;
  seen.role = process.role;
  seen.hypervisor = process.hypervisor;
  note(seen, process.threads);
  // What was read of a large one ahead may be older.
  if (process.threads.size() <= kMostGlanced / 2) seen.since = since;
  return seen;
}

/// How many of them there are decides weights.
bool weighs(ThreadClass cls) { return cls == ThreadClass::vcpu || cls == ThreadClass::io; }

/// One process, now.
class Eye final {
 public:
  /// `kvm_tells`: of each vCPU that the VMM may get.
  Eye(ProcView& proc, const Host& host, std::size_t most, const ProcessSeen& seen, bool kvm_tells)
      : proc_(proc), host_(host), most_(most), seen_(seen), kvm_tells_(kvm_tells) {
    process_.facts.key = seen.key;
    process_.role = seen.role;
    process_.hypervisor = seen.hypervisor;
  }

  /// False: not readable.
  [[nodiscard]] bool look() {
    const auto tids = proc_.tids(pid());
    if (!tids || tids->size() > most_) return false;
    std::vector<ThreadFacts> threads(tids->size());
    for (std::size_t i = 0; i < threads.size(); ++i) threads[i].key.pid = (*tids)[i];
    auto vcpus = proc_vcpus(threads);
    if (!vcpus || !read(threads)) return false;
    // Asked with all that a look knows of them, which is little where KVM tells all.
    if (asks_threads(*vcpus)) vcpus = vcpus_of(proc_, process_, threads);
    if (!vcpus) return false;
    incomplete_ = incomplete(*vcpus);
    threads_ = classify(seen_.role, seen_.hypervisor, threads, *vcpus);
    missing_ = seen_.role == ProcessRole::vmm && vcpus_missing(threads_, *vcpus);
    read_ = {seen_.key, std::move(threads), *std::move(vcpus)};
    return true;
  }

  [[nodiscard]] bool all_as_seen() {
    return std::all_of(threads_.begin(), threads_.end(),
                       [this](const Thread& thread) { return as_seen(thread); }) &&
           !one_that_weighs_ended();
  }

  [[nodiscard]] const std::vector<Thread>& threads() const { return threads_; }
  [[nodiscard]] ThreadsRead::OfOne take() { return std::move(read_); }
  [[nodiscard]] bool kvm_incomplete() const { return incomplete_; }
  [[nodiscard]] bool lacks_vcpus() const { return missing_; }

 private:
  [[nodiscard]] Pid pid() const { return seen_.key.pid; }
  [[nodiscard]] bool runs_vm() const { return seen_.runs_vm(); }
  [[nodiscard]] bool asks_threads(const KvmVcpus& vcpus) const {
    const bool none = vcpus.tid_of.empty();
    return runs_vm() && (none ? !kvm_tells_ || vcpus.silent > 0 : incomplete(vcpus));
  }

  [[nodiscard]] Result<KvmVcpus> proc_vcpus(const std::vector<ThreadFacts>& threads) {
    if (!runs_vm()) return KvmVcpus{};
    auto vcpus = proc_.kvm_vcpus(seen_.key, threads);
    if (!vcpus && errnos::no_task(vcpus.error().code)) return KvmVcpus{};
    return vcpus;
  }

  /// What tells of them without their groups. False: unreadable, or another process.
  [[nodiscard]] bool read(std::vector<ThreadFacts>& threads) {
    std::vector<ThreadFacts> living;
    for (auto& thread : threads) {
      auto stat = proc_.thread_stat(pid(), thread.key.pid);
      if (!stat && !errnos::no_task(stat.error().code)) return false;
      if (!stat || stat->ending()) continue;
      thread.key = stat->key;
      thread.comm = std::move(stat->comm);
      thread.guest_ticks = stat->guest_ticks;
      living.push_back(std::move(thread));
    }
    threads = std::move(living);
    return std::any_of(threads.begin(), threads.end(),
                       [this](const ThreadFacts& thread) { return thread.key == seen_.key; });
  }

  [[nodiscard]] bool one_that_weighs_ended() const {
    return std::any_of(seen_.threads.begin(), seen_.threads.end(), [this](const ThreadSeen& seen) {
      return weighs(seen.cls) &&
             std::none_of(threads_.begin(), threads_.end(),
                          [&](const Thread& thread) { return thread.facts.key == seen.key; });
    });
  }

  /// A known one has the class that it had; a new one was born where the leader is, and belongs
  /// there.
  [[nodiscard]] bool as_seen(const Thread& thread) {
    const ThreadSeen wanted{thread.facts.key, thread.cls, thread.by};
    const auto known = std::lower_bound(seen_.threads.begin(), seen_.threads.end(), wanted, by_key);
    if (known != seen_.threads.end() && known->key == wanted.key) return known->cls == wanted.cls;
    if (weighs(wanted.cls)) return false;
    const ThreadSeen leader{seen_.key};
    const auto first = std::lower_bound(seen_.threads.begin(), seen_.threads.end(), leader, by_key);
    if (first == seen_.threads.end() || first->key != seen_.key || first->cls != wanted.cls)
      return false;
    if (leaders_groups_.empty()) {
      const auto facts = proc_.thread(pid(), pid(), host_);
      if (!facts) return false;
      leaders_groups_ = facts->groups;
    }
    const auto facts = proc_.thread(pid(), wanted.key.pid, host_);
    return facts && facts->key == wanted.key && facts->groups == leaders_groups_;
  }

  ProcView& proc_;
  const Host& host_;
  std::size_t most_;
  const ProcessSeen& seen_;
  bool kvm_tells_;
  Process process_;
  std::vector<Thread> threads_;
  ThreadsRead::OfOne read_;
  std::vector<std::string> leaders_groups_;
  bool incomplete_ = false;
  bool missing_ = false;
};

/// A VMM that runs its VM by something else is asked like one whose vCPUs nobody tells when it is
/// not young any more.
bool is_young(const ProcessSeen& process, Instant now) {
  const Instant born(static_cast<Instant::rep>(process.key.start * kUsecPerTick));
  return now - born < std::chrono::milliseconds(kYoungMs);
}

/// Threads of VMMs, and of processes in `stirred`; new ones are noted. Those that could be read are
/// in `read`, or none.
bool all_as_seen(const PassWorld& world, const Config& config, Glance& glance,
                 const std::set<Pid>& stirred, const Told& told, ThreadsRead& read) {
  bool as_seen = true;
  bool incomplete = false;
  bool missing = false;
  const auto now = world.clock.now();
  const auto most = std::min<std::size_t>(kMostGlanced, config.limits.max_threads_per_sandbox);
  for (auto& process : glance.processes) {
    const bool vmm = process.role == ProcessRole::vmm;
    if (!vmm && !stirred.contains(process.key.pid)) continue;
    const bool kvm_tells = told.vcpus && told.threads && is_young(process, now);
    Eye eye(world.proc, world.tree.host(), most, process, kvm_tells);
    if (!eye.look()) {
      read.processes.clear();
      return false;
    }
    if (eye.all_as_seen()) {
      note(process, eye.threads());
      process.since = now;
    } else {
      as_seen = false;
    }
    read.processes.push_back(eye.take());
    incomplete = incomplete || eye.kvm_incomplete();
    missing = missing || eye.lacks_vcpus();
  }
  glance.vcpus_missing = missing;
  return as_seen && incomplete == glance.kvm_incomplete;
}

UnnamedThreads unnamed_of(const Glance& glance) {
  UnnamedThreads found;
  found.kvm_incomplete = glance.kvm_incomplete;
  found.vcpus_missing = glance.vcpus_missing;
  found.told = glance.told;
  for (const auto& process : glance.processes) {
    if (process.role != ProcessRole::vmm) continue;
    for (const auto& seen : process.threads)
      found.add(seen.key, seen.cls, seen.by, seen.named_vcpu);
  }
  return found;
}

}  // namespace

const ProcessSeen* Glance::process(Pid pid) const {
  const auto seen =
      std::find_if(processes.begin(), processes.end(),
                   [pid](const ProcessSeen& process) { return process.key.pid == pid; });
  return seen == processes.end() ? nullptr : &*seen;
}

Instant Glance::seen_since(Pid pid) const {
  const auto* seen = process(pid);
  return seen == nullptr ? Instant(0) : seen->since;
}

bool Glance::cares_for_threads_of(Pid pid) const {
  const auto* seen = process(pid);
  return seen == nullptr || seen->runs_vm();
}

std::optional<Glance> glance_after(const PassResult& result, const Clock& clock) {
  if (!result.last || result.unfinished) return std::nullopt;
  const auto& last = *result.last;
  const auto& observed = last.observed;
  const auto& want = last.want;
  const bool settled = want.act && last.report.done() == last.plan.steps.size();
  if (!settled || observed.gone || observed.unread() || observed.pending) return std::nullopt;
  Glance glance;
  glance.kvm_incomplete = observed.kvm_incomplete;
  glance.vcpus_missing = observed.vcpus_missing;
  glance.told = observed.told;
  glance.look_at = result.follow_up.look_at;
  glance.confirm_at = result.follow_up.confirm_at;
  if (glance.confirm_at) glance.moves = moves_of(last.plan);
  for (const auto& process : observed.processes)
    glance.processes.push_back(seen_of(process, observed.threads_since));
  glance.warm = warm_up(observed, want);
  if (!glance.warm.steps.empty())
    glance.warm_until = clock.now() + std::chrono::milliseconds(kYoungMs - observed.vmm_age_ms);
  return glance;
}

std::optional<Instant> take_over(const Glance& before, std::optional<Glance>& now) {
  const auto when = earlier(before.look_at, before.confirm_at);
  if (!now) return when;
  now->look_at = earlier(now->look_at, before.look_at);
  now->confirm_at = earlier(now->confirm_at, before.confirm_at);
  now->moves.insert(now->moves.begin(), before.moves.begin(), before.moves.end());
  for (auto& process : now->processes)  // which one of these was looked at is not known
    if (!process.runs_vm()) process.since = before.seen_since(process.key.pid);
  return when;
}

Glanced look_at_threads(const PassWorld& world, const Config& config, Glance& glance,
                        const std::set<Pid>& stirred, const Told& told, Record& record) {
  const auto now = world.clock.now();
  glance.told = {glance.told.threads && told.threads, glance.told.vcpus && told.vcpus};
  if (!stirred.empty() || !unnamed_of(glance).all_told()) {
    ThreadsRead read{now, {}};
    if (!all_as_seen(world, config, glance, stirred, told, read))
      return {false, std::move(read), std::nullopt};
    glance.told = told;
    record.unnamed.plan_look(unnamed_of(glance), now);
  }
  if (glance.confirm_at && *glance.confirm_at <= now) {
    if (!moves_hold(world.tree, world.proc, std::exchange(glance.moves, {}))) return {};
    glance.confirm_at.reset();
  }
  if (config.mode == Mode::enforce && now < glance.warm_until)
    // ignored: nothing is lost but some milliseconds of the next move
    (void)apply(glance.warm, world.tree, world.proc, world.systemd);
  const auto timer = earlier(glance.look_at, glance.confirm_at);
  return {true, {}, earlier(timer, record.unnamed.wake(now))};
}

}  // namespace kcg
