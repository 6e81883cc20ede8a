// SPDX-License-Identifier: Apache-2.0
#include "proc/kvm_debugfs.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>

#include "base/text.hpp"
#include "model/errnos.hpp"

namespace kcg {

namespace {

constexpr std::size_t kMaxNames = 16'384;

/// The tid in a VM's directory name "<tid>-<fd>"; statistics of KVM stand beside it as plain files.
std::optional<Pid> maker_of(const DirEntry& entry) {
  const auto dash = entry.name.find('-');
  if (!entry.directory || dash == std::string::npos) return std::nullopt;
  return parse_pid(std::string_view(entry.name).substr(0, dash));
}

/// N of "vcpu<N>".
std::optional<std::uint32_t> index_of(const DirEntry& entry) {
  if (!entry.directory || !entry.name.starts_with("vcpu")) return std::nullopt;
  const auto number = parse_u64(std::string_view(entry.name).substr(4));
  if (!number || *number > 65'535) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

bool has_thread(const std::vector<ThreadFacts>& threads, Pid tid) {
  return std::any_of(threads.begin(), threads.end(),
                     [tid](const ThreadFacts& thread) { return thread.key.pid == tid; });
}

/// Kernels before 6.0 have no file `pid`: such a vCPU is not in the answer.
Result<KvmVcpus> read_vcpus(const Dir& vm) {
  const auto entries = vm.list();
  if (!entries) return forward(entries.error());
  KvmVcpus found;
  for (const auto& entry : *entries) {
    const auto index = index_of(entry);
    const auto text = index ? vm.read(entry.name + "/pid") : fail(ENOENT, "no vCPU");
    if (!text && !errnos::no_task(text.error().code)) return forward(text.error());
    if (!text) continue;
    if (const auto tid = parse_u64(trim(*text))) found.tid_of[*index] = static_cast<Pid>(*tid);
  }
  return found;
}

/// Whether any vCPU of the VM is run by one of `threads`.
bool runs_on(const Dir& kvm, const std::string& name, const std::vector<ThreadFacts>& threads) {
  const auto vm = kvm.dir(name);
  const auto vcpus = vm ? read_vcpus(*vm) : forward(vm.error());
  return vcpus && std::any_of(vcpus->tid_of.begin(), vcpus->tid_of.end(),
                              [&](const auto& vcpu) { return has_thread(threads, vcpu.second); });
}

}  // namespace

bool KvmDebugfs::claimed(const std::string& name) const {
  return std::any_of(names_.begin(), names_.end(),
                     [&](const auto& known) { return known.second == name; });
}

Result<std::string> KvmDebugfs::find(const Dir& kvm, const std::vector<ThreadFacts>& threads) {
  const auto entries = kvm.list();
  if (!entries) return forward(entries.error());
  for (const auto& entry : *entries) {
    const auto maker = maker_of(entry);
    if (maker && has_thread(threads, *maker)) return entry.name;
  }
  // The thread that made the VM may have ended: then one of the VMs that nobody claims is ours.
  for (const auto& entry : *entries)
    if (maker_of(entry) && !claimed(entry.name) && runs_on(kvm, entry.name, threads))
      return entry.name;
  return std::string();
}

Result<KvmVcpus> KvmDebugfs::vcpus(const TaskKey& vmm, const std::vector<ThreadFacts>& threads) {
  const auto kvm = Dir::open(path_);
  if (!kvm) return forward(kvm.error());
  if (const auto known = names_.find(vmm); known != names_.end()) {
    const auto vm = kvm->dir(known->second);
    if (vm) return read_vcpus(*vm);
    if (!errnos::no_task(vm.error().code)) return forward(vm.error());
    names_.erase(known);
  }
  const auto name = find(*kvm, threads);
  if (!name) return forward(name.error());
  if (name->empty()) return KvmVcpus{};
  const auto vm = kvm->dir(*name);
  if (!vm && !errnos::no_task(vm.error().code)) return forward(vm.error());
  if (!vm) return KvmVcpus{};  // the VM has just ended
  if (names_.size() < kMaxNames) names_.emplace(vmm, *name);
  return read_vcpus(*vm);
}

void KvmDebugfs::forget(Pid pid) {
  std::erase_if(names_, [pid](const auto& known) { return known.first.pid == pid; });
}

}  // namespace kcg
