// SPDX-License-Identifier: Apache-2.0
//
// KVM's debugfs: which thread runs which vCPU (L5, internal to proc/). Source: virt/kvm/kvm_main.c.
// A VM's directory is called <tid>-<fd> after the thread that made it; its name is kept per VMM, so
// that a look costs the same on a node with one VM and with hundreds.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/dir.hpp"
#include "model/process.hpp"

namespace kcg {

/// Resource: remembers directory names; opens the file system anew for every look, because it may
/// be mounted, and KVM be loaded, at any time.
class KvmDebugfs final {
 public:
  explicit KvmDebugfs(std::string path) : path_(std::move(path)) {}

  /// vCPUs of the VM that `vmm` runs. Empty: no entry. ENOENT: no debugfs.
  [[nodiscard]] Result<KvmVcpus> vcpus(const TaskKey& vmm, const std::vector<ThreadFacts>& threads);
  void forget(Pid pid);

 private:
  [[nodiscard]] Result<std::string> find(const Dir& kvm, const std::vector<ThreadFacts>& threads);
  [[nodiscard]] bool claimed(const std::string& name) const;

  std::string path_;
  std::map<TaskKey, std::string> names_;  ///< bounded by the VMMs that are looked at and forgotten
};

}  // namespace kcg
