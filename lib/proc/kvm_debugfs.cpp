// SPDX-License-Identifier: Apache-2.0
#include "proc/kvm_debugfs.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "model/errnos.hpp"

namespace kcg {

namespace {

/// N of "vcpu<N>".
std::optional<std::uint32_t> index_of(std::string_view name, bool directory) {
  if (!directory || !name.starts_with("vcpu")) return std::nullopt;
  const auto number = parse_u64(name.substr(4));
  if (!number || *number > 65'535) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

bool has_thread(const std::vector<ThreadFacts>& threads, Pid tid) {
  return std::any_of(threads.begin(), threads.end(),
                     [tid](const ThreadFacts& thread) { return thread.key.pid == tid; });
}

/// KVM removes none before it removes the VM.
Result<std::vector<std::uint32_t>> indices_in(const Dir& vm) {
  std::vector<std::uint32_t> indices;
  const auto listed = vm.for_each([&indices](std::string_view name, bool directory) {
    if (const auto index = index_of(name, directory)) indices.push_back(*index);
  });
  if (!listed) return forward(listed.error());
  return indices;
}

/// Kernels before 6.0 have no file `pid`. On others it is made after its directory: where one vCPU
/// has it, another that has none has not run yet.
Result<KvmVcpus> read_vcpus(const Dir& vm, const std::vector<std::uint32_t>& indices) {
  KvmVcpus found;
  std::vector<std::uint32_t> silent;
  for (const auto index : indices) {
    const auto text = vm.read_kernel(fmt::format("vcpu{}/pid", index));
    if (!text && !errnos::no_task(text.error().code)) return forward(text.error());
    if (!text)
      silent.push_back(index);
    else if (const auto tid = parse_u64(trim(*text)))
      found.tid_of[index] = static_cast<Pid>(*tid);
  }
  if (found.tid_of.empty())
    found.silent = silent.size();
  else
    for (const auto index : silent) found.tid_of[index] = 0;
  return found;
}

Result<KvmVcpus> read_vcpus(const Dir& vm) {
  const auto indices = indices_in(vm);
  return indices ? read_vcpus(vm, *indices) : forward(indices.error());
}

/// Whether any vCPU of the VM is run by one of `threads`.
bool runs_on(const Dir& kvm, const std::string& name, const std::vector<ThreadFacts>& threads) {
  const auto vm = kvm.dir(name);
  const auto vcpus = vm ? read_vcpus(*vm) : forward(vm.error());
  return vcpus && std::any_of(vcpus->tid_of.begin(), vcpus->tid_of.end(),
                              [&](const auto& vcpu) { return has_thread(threads, vcpu.second); });
}

}  // namespace

/// Empty: there is none.
Result<std::string> KvmDebugfs::find(const Dir& kvm, const std::vector<ThreadFacts>& threads) {
  if (auto known = names_.refresh(kvm); !known) return forward(known.error());
  for (const auto& thread : threads)
    if (auto made = names_.made_by(thread.key.pid)) return std::move(*made);
  // The thread that made the VM may have ended: then one of the VMs that nobody claims is ours.
  for (auto& name : names_.unclaimed(kMostOthers))
    if (runs_on(kvm, name, threads)) return std::move(name);
  return std::string();
}

/// Its directory has two links of its own, and one from each directory in it.
Result<KvmVcpus> KvmDebugfs::vcpus_of_known(const Dir& kvm, Vm& vm) const {
  const auto dir = kvm.dir(vm.name);
  if (!dir) return forward(dir.error());
  struct stat st{};
  if (::fstat(dir->fd(), &st) != 0) return fail(errno, "{}: stat", vm.name);
  if (vm.inode != 0 && vm.inode != st.st_ino) return fail(ENOENT, "{}: another VM", vm.name);
  vm.inode = st.st_ino;
  if (st.st_nlink != vm.indices.size() + 2) {
    auto indices = indices_in(*dir);
    if (!indices) return forward(indices.error());
    vm.indices = std::move(*indices);
  }
  auto vcpus = read_vcpus(*dir, vm.indices);
  if (vcpus) vcpus->directory = path_ + '/' + vm.name;
  return vcpus;
}

Result<KvmVcpus> KvmDebugfs::vcpus(const TaskKey& vmm, const std::vector<ThreadFacts>& threads) {
  const auto kvm = Dir::open(path_);
  if (!kvm) return forward(kvm.error());
  if (const auto known = vms_.find(vmm); known != vms_.end()) {
    auto vcpus = vcpus_of_known(*kvm, known->second);
    if (vcpus || !errnos::no_task(vcpus.error().code)) return vcpus;
    drop(known);
  }
  auto name = find(*kvm, threads);
  if (!name) return forward(name.error());
  if (name->empty()) return KvmVcpus{};
  names_.claim(*name);
  const auto found = vms_.emplace(vmm, Vm{std::move(*name), 0, {}}).first;
  auto vcpus = vcpus_of_known(*kvm, found->second);
  if (vcpus || !errnos::no_task(vcpus.error().code)) return vcpus;
  drop(found);  // the VM has just ended
  return KvmVcpus{};
}

KvmDebugfs::Vms::iterator KvmDebugfs::drop(Vms::iterator vm) {
  names_.release(vm->second.name);
  return vms_.erase(vm);
}

void KvmDebugfs::forget(Pid pid) {
  for (auto it = vms_.lower_bound({pid, 0}); it != vms_.end() && it->first.pid == pid;)
    it = drop(it);
}

}  // namespace kcg
