// SPDX-License-Identifier: Apache-2.0
#include "identify/classify.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "identify/kernel_worker.hpp"

namespace kcg {

namespace {

bool all_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// What follows `prefix`; nullopt: the text does not start with it.
std::optional<std::string_view> after(std::string_view text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix) return std::nullopt;
  return text.substr(prefix.size());
}

bool numbered(std::string_view comm, std::string_view prefix) {
  const auto rest = after(comm, prefix);
  return rest && all_digits(*rest);
}

template <class... Prefixes>
bool any_prefix(std::string_view comm, Prefixes... prefixes) {
  return (after(comm, prefixes).has_value() || ...);
}

/// "CPU <N>/KVM", and the same with any other accelerator.
bool qemu_vcpu(std::string_view comm) {
  const auto rest = after(comm, "CPU ");
  const auto slash = rest ? rest->find('/') : std::string_view::npos;
  return slash != std::string_view::npos && all_digits(rest->substr(0, slash));
}

bool qemu_io(std::string_view comm) {
  const auto named = after(comm, "IO ");
  return (named && !named->empty()) ||
         any_prefix(comm, "iothread", "scsi-io-thread", "indep_iothread");
}

/// Device threads are called after the device's id; newer versions put a second underscore before
/// the ids of devices that a user cannot name.
bool cloud_hypervisor_io(std::string_view comm) {
  if (any_prefix(comm, "__rng", "__console", "_rng", "_console")) return true;
  return any_prefix(comm, "_disk", "_net", "_fs", "_pmem", "_vsock");
}

std::optional<ThreadClass> by_name(Hypervisor hypervisor, std::string_view comm) {
  bool vcpu = false;
  bool io = false;
  switch (hypervisor) {
    case Hypervisor::qemu:
    case Hypervisor::stratovirt:
      vcpu = qemu_vcpu(comm);
      io = qemu_io(comm);
      break;
    case Hypervisor::cloud_hypervisor:
      vcpu = numbered(comm, "vcpu");
      io = cloud_hypervisor_io(comm);
      break;
    case Hypervisor::firecracker:
      vcpu = numbered(comm, "fc_vcpu ");
      break;
    case Hypervisor::openvmm:
      vcpu = numbered(comm, "vp-");
      break;
    case Hypervisor::dragonball:
      vcpu = numbered(comm, "db_vcpu");
      io = any_prefix(comm, "blk_iothread");
      break;
    case Hypervisor::unknown:
    case Hypervisor::remote:
      break;
  }
  if (vcpu) return ThreadClass::vcpu;
  if (io) return ThreadClass::io;
  return std::nullopt;
}

/// Signals as bits of a mask: bit 0 is signal 1.
constexpr std::uint64_t kSigbus = 1U << 6, kSigusr1 = 1U << 9, kSigusr2 = 1U << 11;

/// QEMU blocks all ordinary signals in the threads that it makes, and a vCPU thread unblocks SIGBUS
/// and SIGUSR1 (which kicks it out of KVM_RUN) before it runs for the first time. This tells it
/// from all others long before KVM knows its tid, in a paused VM, too.
bool qemu_vcpu_signals(Hypervisor hypervisor, const ThreadFacts& facts) {
  if (hypervisor != Hypervisor::qemu || !facts.blocked_signals) return false;
  return (*facts.blocked_signals & (kSigbus | kSigusr1 | kSigusr2)) == kSigusr2;
}

Thread classify_vmm_thread(Hypervisor hypervisor, const ThreadFacts& facts, const KvmVcpus& kvm,
                           const std::set<Pid>& kvm_tids) {
  if (kvm_tids.count(facts.key.pid) > 0) return {facts, ThreadClass::vcpu, ClassSource::kvm};
  // What the kernel makes inside a VMM carries the saved registers of the thread that caused it, a
  // vCPU in KVM_RUN perhaps: only its name tells.
  if (const auto cls = kernel_made(facts.comm)) return {facts, *cls, ClassSource::name};
  if (kvm.tid_of.empty()) {
    if (facts.in_vcpu_ioctl) return {facts, ThreadClass::vcpu, ClassSource::syscall};
    if (facts.guest_ticks > 0) return {facts, ThreadClass::vcpu, ClassSource::guest_time};
  }
  if (qemu_vcpu_signals(hypervisor, facts)) return {facts, ThreadClass::vcpu, ClassSource::signals};
  if (const auto cls = by_name(hypervisor, facts.comm)) return {facts, *cls, ClassSource::name};
  return {facts, ThreadClass::vmm, ClassSource::role};
}

std::vector<Thread> classify_vmm(Hypervisor hypervisor, const std::vector<ThreadFacts>& threads,
                                 const KvmVcpus& kvm, bool vcpu_known) {
  std::set<Pid> kvm_tids;
  for (const auto& [vcpu, tid] : kvm.tid_of) kvm_tids.insert(tid);  // 0, not run yet, is nobody's
  std::vector<Thread> out;
  out.reserve(threads.size());
  for (const auto& facts : threads)
    out.push_back(classify_vmm_thread(hypervisor, facts, kvm, kvm_tids));
  const bool any_vcpu = vcpu_known || std::any_of(out.begin(), out.end(), [](const Thread& t) {
                          return t.cls == ThreadClass::vcpu;
                        });
  // Without a known vCPU all stay together: an I/O thread in a group of its own would weigh as much
  // as all vCPUs, which sit unrecognised among the others.
  if (!any_vcpu)
    for (auto& thread : out) thread = {thread.facts, ThreadClass::vmm, ClassSource::fallback};
  return out;
}

/// All kernel workers have one role, and what they do stands in their names.
ThreadClass class_by_role(ProcessRole role, const ThreadFacts& facts) {
  const auto made =
      role == ProcessRole::kernel_worker ? kernel_made(facts.comm) : std::optional<ThreadClass>();
  return made.value_or(default_class(role));
}

}  // namespace

std::vector<Thread> classify(ProcessRole role, Hypervisor hypervisor,
                             const std::vector<ThreadFacts>& threads, const KvmVcpus& kvm,
                             bool vcpu_known) {
  const bool vmm_inside = role == ProcessRole::shim && hypervisor == Hypervisor::dragonball;
  if (role == ProcessRole::vmm || vmm_inside)
    return classify_vmm(hypervisor, threads, kvm, vcpu_known);
  std::vector<Thread> out;
  out.reserve(threads.size());
  for (const auto& facts : threads)
    out.push_back({facts, class_by_role(role, facts), ClassSource::role});
  return out;
}

bool named_vcpu(Hypervisor hypervisor, std::string_view comm) {
  return by_name(hypervisor, comm) == ThreadClass::vcpu;
}

bool incomplete(const KvmVcpus& vcpus) {
  return std::any_of(vcpus.tid_of.begin(), vcpus.tid_of.end(),
                     [](const auto& vcpu) { return vcpu.second == 0; });
}

bool vcpus_missing(const std::vector<Thread>& threads, const KvmVcpus& kvm) {
  const auto found = std::count_if(threads.begin(), threads.end(), [](const Thread& thread) {
    return thread.cls == ThreadClass::vcpu;
  });
  return static_cast<std::size_t>(found) < kvm.tid_of.size() + kvm.silent;
}

VcpuHints hints_that_tell(Hypervisor hypervisor, const ThreadFacts& thread, const KvmVcpus& kvm) {
  if (named_vcpu(hypervisor, thread.comm) || kernel_made(thread.comm)) return {};
  return {kvm.tid_of.empty(), hypervisor == Hypervisor::qemu};
}

bool hints_tell_more(Hypervisor hypervisor, const std::vector<ThreadFacts>& threads,
                     const KvmVcpus& kvm) {
  if (kvm.tid_of.empty()) return true;
  if (!incomplete(kvm) || hypervisor != Hypervisor::qemu) return false;
  const auto named = std::count_if(threads.begin(), threads.end(), [&](const ThreadFacts& thread) {
    return named_vcpu(hypervisor, thread.comm);
  });
  return static_cast<std::size_t>(named) < kvm.tid_of.size();
}

}  // namespace kcg
