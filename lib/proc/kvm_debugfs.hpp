// SPDX-License-Identifier: Apache-2.0
//
// KVM's debugfs: which thread runs which vCPU (L5, internal to proc/). Source: virt/kvm/kvm_main.c.
// A VM's directory is called <tid>-<fd> after the thread that made it; its name is kept per VMM, so
// that a look costs the same on a node with one VM and with hundreds.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/dir.hpp"
#include "model/process.hpp"
#include "proc/vm_names.hpp"

namespace kcg {

/// Where KVM tells of its VMs, as seen by us: debugfs is mounted there or nowhere.
inline constexpr const char* kKvmDebugfs = "/sys/kernel/debug/kvm";

/// Resource: remembers directory names; opens the file system anew for every look, because it may
/// be mounted, and KVM be loaded, at any time.
class KvmDebugfs final {
 public:
  explicit KvmDebugfs(std::string path) : path_(std::move(path)) {}

  /// vCPUs of the VM that `vmm` runs. Empty: no entry. ENOENT: no debugfs.
  [[nodiscard]] Result<KvmVcpus> vcpus(const TaskKey& vmm, const std::vector<ThreadFacts>& threads);
  void forget(Pid pid);

  /// VMs of others that one look reads to see whether they are the one that it is about.
  static constexpr std::size_t kMostOthers = 16;

 private:
  /// Value: the VM of one VMM.
  struct Vm {
    std::string name;
    std::uint64_t inode = 0;             ///< another one is another VM of that name
    std::vector<std::uint32_t> indices;  ///< of its vCPUs
  };
  using Vms = std::map<TaskKey, Vm>;
  [[nodiscard]] Result<KvmVcpus> vcpus_of_known(const Dir& kvm, Vm& vm) const;
  [[nodiscard]] Result<std::string> find(const Dir& kvm, const std::vector<ThreadFacts>& threads);
  Vms::iterator drop(Vms::iterator vm);

  std::string path_;
  Vms vms_;  ///< bounded by the VMMs that are looked at and forgotten
  VmNames names_;
};

}  // namespace kcg
