// SPDX-License-Identifier: Apache-2.0
#include "pass/glance.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "apply/apply.hpp"
#include "model/ticks.hpp"
#include "pass/moved.hpp"
#include "plan/warm.hpp"

namespace kcg {

namespace {

ProcessSeen seen_of(const Process& process, Instant since) {
  ProcessSeen seen;
  seen.key = process.facts.key;
  seen.role = process.role;
  seen.hypervisor = process.hypervisor;
  seen.threads = Packed(seen_of(process.hypervisor, process.threads, false));
  // What was read of a large one ahead may be older.
  if (process.threads.size() <= kMostGlanced / 2) seen.since = since;
  return seen;
}

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
      process.threads = Packed(eye.threads());
      if (threads == nullptr) process.since = now;
    }
    read.processes.push_back(eye.take());
  }
  glance.vm = vm;
  return as_seen;
}

UnnamedThreads unnamed_of(const Glance& glance) {
  UnnamedThreads found;
  found.kvm_incomplete = glance.vm.incomplete;
  found.vcpus_missing = glance.vm.missing;
  found.told = glance.told;
  for (const auto& process : glance.processes) {
    if (process.role != ProcessRole::vmm) continue;
    for (const auto& seen : process.threads.whole())
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
