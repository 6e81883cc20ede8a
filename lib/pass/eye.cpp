// SPDX-License-Identifier: Apache-2.0
#include "pass/eye.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "identify/classify.hpp"
#include "model/errnos.hpp"
#include "observe/processes.hpp"

namespace kcg {

namespace {

bool by_key(const ThreadSeen& a, const ThreadSeen& b) { return a.key < b.key; }

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

std::vector<ThreadFacts> unread(const std::vector<Pid>& tids) {
  std::vector<ThreadFacts> threads(tids.size());
  for (std::size_t i = 0; i < threads.size(); ++i) threads[i].key.pid = tids[i];
  return threads;
}

}  // namespace

std::vector<ThreadSeen> seen_of(Hypervisor hypervisor, const std::vector<Thread>& threads,
                                bool glanced) {
  std::vector<ThreadSeen> seen;
  seen.reserve(threads.size());
  for (const auto& [facts, cls, by] : threads)
    seen.push_back({facts.key, cls, by, named_vcpu(hypervisor, facts.comm), glanced});
  std::sort(seen.begin(), seen.end(), by_key);
  return seen;
}

Eye::Eye(ProcView& proc, const Host& host, std::size_t most, const ProcessSeen& seen)
    : proc_(proc), host_(host), most_(most), seen_(seen), known_(seen.threads.whole()) {
  process_.facts.key = seen.key;
  process_.role = seen.role;
  process_.hypervisor = seen.hypervisor;
}

bool Eye::look(bool kvm_tells) {
  const auto tids = this->tids();
  if (!tids) return false;
  auto threads = unread(*tids);
  auto vcpus = seen_.runs_vm() ? vcpus_of(proc_, seen_.key, threads) : KvmVcpus{};
  if (!vcpus || !read(threads)) return false;
  if (asks_threads(*vcpus, kvm_tells)) ask_for_hints(proc_, process_, *vcpus, threads);
  const auto classified = classify(seen_.role, seen_.hypervisor, threads, *vcpus);
  threads_ = seen_of(seen_.hypervisor, classified, true);
  vm_ = {!vcpus->directory.empty(), incomplete(*vcpus),
         seen_.role == ProcessRole::vmm && vcpus_missing(classified, *vcpus)};
  all_as_seen_ = are_as_seen();
  read_ = {seen_.key, std::move(threads), {}, *std::move(vcpus)};
  return has_leader();
}

bool Eye::look_at(const StirredThreads& stirred, const VmSeen& vm) {
  const auto tids = this->tids();
  if (!tids) return false;
  std::vector<Pid> news;
  for (const Pid tid : *tids) {
    const auto* known = find(known_, tid);
    if (known != nullptr && !stirred.contains(tid))
      threads_.push_back(*known);
    else
      news.push_back(tid);
  }
  const auto others = threads_;
  auto threads = unread(news);
  auto vcpus = vm.incomplete ? vcpus_of(proc_, seen_.key, {}) : known_vcpus();
  if (!vcpus || !read(threads)) return false;
  const bool confirmed = this->confirmed(*vcpus);
  const auto classified =
      classify(seen_.role, seen_.hypervisor, threads, *vcpus, count_vcpus() > 0);
  for (const auto& thread : seen_of(seen_.hypervisor, classified, true)) threads_.push_back(thread);
  std::sort(threads_.begin(), threads_.end(), by_key);
  vm_ = {vm.kvm_knows, incomplete(*vcpus), count_vcpus() < vcpus->tid_of.size() + vcpus->silent};
  all_as_seen_ = confirmed && vm_.missing == vm.missing && are_as_seen();
  if (!has_leader() || all_as_seen_) return has_leader();
  // A look takes all that KVM says.
  if (!vm.incomplete) vcpus = vcpus_of(proc_, seen_.key, {});
  if (!vcpus) return false;
  read_ = {seen_.key, std::move(threads), {}, *std::move(vcpus)};
  return read_for_a_look(others);
}

/// nullopt: not readable, or too many.
std::optional<std::vector<Pid>> Eye::tids() {
  auto tids = proc_.tids(pid());
  if (!tids || tids->size() > most_) return std::nullopt;
  return std::move(*tids);
}

/// Else it is another process.
bool Eye::has_leader() const { return find(threads_, seen_.key) != nullptr; }

/// What tells of them without their groups; who has ended is left out. False: unreadable.
bool Eye::read(std::vector<ThreadFacts>& threads) {
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

/// Not all of the others are as the last look has seen them. False: unreadable.
bool Eye::read_for_a_look(const std::vector<ThreadSeen>& others) {
  std::vector<Pid> glanced;
  for (const auto& thread : others)
    (thread.glanced ? glanced : read_.others).push_back(thread.key.pid);
  auto threads = unread(glanced);
  if (!read(threads)) return false;
  read_.threads.insert(read_.threads.end(), threads.begin(), threads.end());
  return true;
}

bool Eye::asks_threads(const KvmVcpus& vcpus, bool kvm_tells) const {
  const bool none = vcpus.tid_of.empty();
  return seen_.runs_vm() && (none ? !kvm_tells || vcpus.silent > 0 : incomplete(vcpus));
}

/// What KVM said, as far as it named threads.
Result<KvmVcpus> Eye::known_vcpus() const {
  KvmVcpus vcpus;
  for (const auto& thread : known_)
    if (thread.by == ClassSource::kvm)
      vcpus.tid_of[static_cast<std::uint32_t>(vcpus.tid_of.size())] = thread.key.pid;
  return vcpus;
}

/// Of threads that are not read KVM may say that they are the vCPUs that they seem, and no more.
bool Eye::confirmed(const KvmVcpus& vcpus) const {
  std::set<Pid> run;
  for (const auto& [number, tid] : vcpus.tid_of) run.insert(tid);
  return std::all_of(threads_.begin(), threads_.end(), [&](const ThreadSeen& thread) {
    return run.contains(thread.key.pid) ? thread.cls == ThreadClass::vcpu
                                        : thread.by != ClassSource::kvm;
  });
}

std::size_t Eye::count_vcpus() const {
  const auto found = std::count_if(threads_.begin(), threads_.end(), [](const auto& thread) {
    return thread.cls == ThreadClass::vcpu;
  });
  return static_cast<std::size_t>(found);
}

bool Eye::are_as_seen() {
  return !one_that_weighs_ended() &&
         std::all_of(threads_.begin(), threads_.end(),
                     [this](const ThreadSeen& thread) { return as_seen(thread); });
}

bool Eye::one_that_weighs_ended() const {
  return std::any_of(known_.begin(), known_.end(), [this](const ThreadSeen& seen) {
    return weighs(seen.cls) && find(threads_, seen.key) == nullptr;
  });
}

/// A known one has the class that it had; a new one was born where the leader is, and belongs
/// there.
bool Eye::as_seen(const ThreadSeen& thread) {
  if (const auto* known = find(known_, thread.key)) return known->cls == thread.cls;
  if (weighs(thread.cls)) return false;
  const auto* leader = find(known_, seen_.key);
  if (leader == nullptr || leader->cls != thread.cls) return false;
  if (!leaders_groups_) leaders_groups_ = proc_.groups(pid(), host_);
  const auto groups = proc_.groups(thread.key.pid, host_);
  return *leaders_groups_ && groups && *groups == **leaders_groups_;
}

}  // namespace kcg
