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

void add(std::vector<ThreadSeen>& seen, Hypervisor hypervisor, const std::vector<Thread>& threads,
         bool glanced) {
  for (const auto& [facts, cls, by] : threads)
    seen.push_back({facts.key, cls, by, named_vcpu(hypervisor, facts.comm), glanced});
  std::sort(seen.begin(), seen.end(), by_key);
}

ProcessSeen seen_of(const Process& process, Instant since) {
  ProcessSeen seen;
  seen.key = process.facts.key;
  seen.role = process.role;
  seen.hypervisor = process.hypervisor;
  add(seen.threads, process.hypervisor, process.threads, false);
  // What was read of a large one ahead may be older.
  if (process.threads.size() <= kMostGlanced / 2) seen.since = since;
  return seen;
}

/// How many of them there are decides weights.
bool weighs(ThreadClass cls) { return cls == ThreadClass::vcpu || cls == ThreadClass::io; }

const ThreadSeen* find(const std::vector<ThreadSeen>& threads, const TaskKey& key) {
  const auto found = std::lower_bound(threads.begin(), threads.end(), ThreadSeen{key}, by_key);
  return found != threads.end() && found->key == key ? &*found : nullptr;
}

/// Whoever has this number now.
const ThreadSeen* find(const std::vector<ThreadSeen>& threads, Pid tid) {
  const auto found = std::lower_bound(threads.begin(), threads.end(), ThreadSeen{{tid, 0}}, by_key);
  return found != threads.end() && found->key.pid == tid ? &*found : nullptr;
}

/// One process, now.
class Eye final {
 public:
  Eye(ProcView& proc, const Host& host, std::size_t most, const ProcessSeen& seen)
      : proc_(proc), host_(host), most_(most), seen_(seen) {
    process_.facts.key = seen.key;
    process_.role = seen.role;
    process_.hypervisor = seen.hypervisor;
  }

  /// `kvm_tells`: of each vCPU that the VMM may get. False: not readable.
  [[nodiscard]] bool look(bool kvm_tells) {
    const auto tids = proc_.tids(pid());
    if (!tids || tids->size() > most_) return false;
    std::vector<ThreadFacts> threads(tids->size());
    for (std::size_t i = 0; i < threads.size(); ++i) threads[i].key.pid = (*tids)[i];
    auto vcpus = seen_.runs_vm() ? vcpus_of(proc_, seen_.key, threads) : KvmVcpus{};
    if (!vcpus || !read(threads)) return false;
    if (asks_threads(*vcpus, kvm_tells)) ask_for_hints(proc_, process_, *vcpus, threads);
    const auto classified = classify(seen_.role, seen_.hypervisor, threads, *vcpus);
    vm_ = {!vcpus->directory.empty(), incomplete(*vcpus),
           seen_.role == ProcessRole::vmm && vcpus_missing(classified, *vcpus)};
    add(threads_, seen_.hypervisor, classified, true);
    all_as_seen_ = are_as_seen();
    read_ = {seen_.key, std::move(threads), {}, *std::move(vcpus)};
    return has_leader();
  }

  /// The others are as they were; KVM is asked where it did not know all (`vm`). False: not
  /// readable.
  [[nodiscard]] bool look_at(const StirredThreads& stirred, const VmSeen& vm) {
    const auto tids = proc_.tids(pid());
    if (!tids || tids->size() > most_) return false;
    std::vector<ThreadFacts> threads;
    for (const Pid tid : *tids) {
      const auto* known = find(seen_.threads, tid);
      if (known == nullptr || stirred.contains(tid))
        threads.emplace_back().key.pid = tid;
      else
        threads_.push_back(*known);
    }
    const auto others = threads_;
    auto vcpus = vm.incomplete ? vcpus_of(proc_, seen_.key, {}) : known_vcpus();
    if (!vcpus || !read(threads)) return false;
    const bool confirmed = take_in(*vcpus);
    add(threads_, seen_.hypervisor,
        classify(seen_.role, seen_.hypervisor, threads, *vcpus, count_vcpus() > 0), true);
    vm_ = {vm.kvm_knows, incomplete(*vcpus), count_vcpus() < vcpus->tid_of.size() + vcpus->silent};
    all_as_seen_ = confirmed && vm_ == vm && are_as_seen();
    read_.threads = std::move(threads);
    if (!all_as_seen_ && !vm.incomplete) vcpus = vcpus_of(proc_, seen_.key, {});
    return has_leader() && (all_as_seen_ || read_for_a_look(others, std::move(vcpus)));
  }

  [[nodiscard]] bool all_as_seen() const { return all_as_seen_; }
  [[nodiscard]] const std::vector<ThreadSeen>& threads() const { return threads_; }
  [[nodiscard]] ThreadsRead::OfOne take() { return std::move(read_); }
  [[nodiscard]] const VmSeen& vm() const { return vm_; }

 private:
  [[nodiscard]] Pid pid() const { return seen_.key.pid; }
  /// Else it is another process.
  [[nodiscard]] bool has_leader() const { return find(threads_, seen_.key) != nullptr; }
  [[nodiscard]] bool asks_threads(const KvmVcpus& vcpus, bool kvm_tells) const {
    const bool none = vcpus.tid_of.empty();
    return seen_.runs_vm() && (none ? !kvm_tells || vcpus.silent > 0 : incomplete(vcpus));
  }

  /// What KVM said, as far as it named threads.
  [[nodiscard]] Result<KvmVcpus> known_vcpus() const {
    KvmVcpus vcpus;
    for (const auto& thread : seen_.threads)
      if (thread.by == ClassSource::kvm)
        vcpus.tid_of[static_cast<std::uint32_t>(vcpus.tid_of.size())] = thread.key.pid;
    return vcpus;
  }

  /// Of threads that are not read KVM may confirm that they are vCPUs. False: it says else.
  [[nodiscard]] bool take_in(const KvmVcpus& vcpus) {
    std::set<Pid> run;
    for (const auto& [number, tid] : vcpus.tid_of) run.insert(tid);
    for (auto& thread : threads_) {
      const bool runs = run.contains(thread.key.pid);
      if (runs ? thread.cls != ThreadClass::vcpu : thread.by == ClassSource::kvm) return false;
      if (runs) thread.by = ClassSource::kvm;
    }
    return true;
  }

  [[nodiscard]] std::size_t count_vcpus() const {
    return static_cast<std::size_t>(
        std::count_if(threads_.begin(), threads_.end(),
                      [](const auto& thread) { return thread.cls == ThreadClass::vcpu; }));
  }

  /// Not all of the others are as the last look has seen them. False: unreadable.
  [[nodiscard]] bool read_for_a_look(const std::vector<ThreadSeen>& others,
                                     Result<KvmVcpus> vcpus) {
    std::vector<ThreadFacts> glanced;
    for (const auto& thread : others) {
      if (thread.glanced)
        glanced.emplace_back().key = thread.key;
      else
        read_.others.push_back(thread.key.pid);
    }
    if (!vcpus || !read(glanced)) return false;
    read_.process = seen_.key;
    read_.threads.insert(read_.threads.end(), glanced.begin(), glanced.end());
    read_.vcpus = *std::move(vcpus);
    return true;
  }

  /// What tells of them without their groups; who has ended is left out. False: unreadable.
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
    return true;
  }

  [[nodiscard]] bool are_as_seen() {
    return !one_that_weighs_ended() &&
           std::all_of(threads_.begin(), threads_.end(),
                       [this](const ThreadSeen& thread) { return as_seen(thread); });
  }

  [[nodiscard]] bool one_that_weighs_ended() const {
    return std::any_of(seen_.threads.begin(), seen_.threads.end(), [this](const ThreadSeen& seen) {
      return weighs(seen.cls) && find(threads_, seen.key) == nullptr;
    });
  }

  /// A known one has the class that it had; a new one was born where the leader is, and belongs
  /// there.
  [[nodiscard]] bool as_seen(const ThreadSeen& thread) {
    if (const auto* known = find(seen_.threads, thread.key)) return known->cls == thread.cls;
    if (weighs(thread.cls)) return false;
    const auto* leader = find(seen_.threads, seen_.key);
    if (leader == nullptr || leader->cls != thread.cls) return false;
    if (!leaders_groups_) leaders_groups_ = proc_.groups(pid(), host_);
    const auto groups = proc_.groups(thread.key.pid, host_);
    return *leaders_groups_ && groups && *groups == **leaders_groups_;
  }

  ProcView& proc_;
  const Host& host_;
  std::size_t most_;
  const ProcessSeen& seen_;
  Process process_;
  std::vector<ThreadSeen> threads_;  ///< ascending by key
  ThreadsRead::OfOne read_;
  std::optional<Result<std::vector<std::string>>> leaders_groups_;
  VmSeen vm_;
  bool all_as_seen_ = false;
};

VmSeen either(const VmSeen& a, const VmSeen& b) {
  return {a.kvm_knows || b.kvm_knows, a.incomplete || b.incomplete, a.missing || b.missing};
}

/// A VMM that runs its VM by something else is asked like one whose vCPUs nobody tells when it is
/// not young any more.
bool is_young(const ProcessSeen& process, Instant now) {
  const Instant born(static_cast<Instant::rep>(process.key.start * kUsecPerTick));
  return now - born < std::chrono::milliseconds(kYoungMs);
}

/// Those that stirred, of a VMM where whatever becomes of threads and vCPUs is told: those of whom
/// nothing was told are as they were, and where there is a thread for each vCPU nobody who is born
/// is one before KVM tells of a further one. That a vCPU runs is told to nobody, and KVM is asked.
/// nullptr: all.
const StirredThreads* whom_to_look_at(const Glance& glance, const ProcessSeen& process, bool young,
                                      const StirredThreads* stirred) {
  static const StirredThreads none;
  const bool told = glance.told.threads && glance.told.vcpus;
  const bool knows_vcpus = glance.vm.kvm_knows ? !glance.vm.missing : young;
  if (!told || process.role != ProcessRole::vmm || !knows_vcpus) return nullptr;
  if (stirred == nullptr) return glance.vm.incomplete ? &none : nullptr;
  return stirred->may_be_any() ? nullptr : stirred;
}

/// Threads of VMMs, and of processes in `stirred`; new ones are noted. Those that could be read are
/// in `read`, or none.
bool all_as_seen(const PassWorld& world, const Config& config, Glance& glance,
                 const Stirred& stirred, const Told& told, ThreadsRead& read) {
  bool as_seen = true;
  VmSeen vm;
  const auto now = world.clock.now();
  const auto most = std::min<std::size_t>(kMostGlanced, config.limits.max_threads_per_sandbox);
  for (auto& process : glance.processes) {
    const auto heard = stirred.find(process.key.pid);
    const bool stirs = heard != stirred.end();
    if (process.role != ProcessRole::vmm && !stirs) continue;
    const bool young = is_young(process, now);
    const auto* threads = whom_to_look_at(glance, process, young, stirs ? &heard->second : nullptr);
    Eye eye(world.proc, world.tree.host(), most, process);
    const bool readable = threads == nullptr ? eye.look(told.vcpus && told.threads && young)
                                             : eye.look_at(*threads, glance.vm);
    if (!readable) {
      read.processes.clear();
      return false;
    }
    vm = either(vm, eye.vm());
    // What was not read is as old as it was.
    if (threads != nullptr) read.since = std::min(read.since, process.since);
    if (!eye.all_as_seen()) {
      as_seen = false;
    } else {
      process.threads = eye.threads();
      if (threads == nullptr) process.since = now;
    }
    read.processes.push_back(eye.take());
  }
  const bool waited = std::exchange(glance.vm, vm).incomplete;
  return as_seen && vm.incomplete == waited;
}

UnnamedThreads unnamed_of(const Glance& glance) {
  UnnamedThreads found;
  found.kvm_incomplete = glance.vm.incomplete;
  found.vcpus_missing = glance.vm.missing;
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
  glance.vm = {!observed.kvm_directory.empty(), observed.kvm_incomplete, observed.vcpus_missing};
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
                        const Stirred& stirred, const Told& told, Record& record) {
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
