// SPDX-License-Identifier: Apache-2.0
//
// VMs and vCPUs that KVM comes to know (L9): it makes a directory for each VM in debugfs, and one
// for each vCPU in its VM's. That one has begun to run it tells nobody. Source:
// virt/kvm/kvm_main.c.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "daemon/loop.hpp"
#include "daemon/watch/inotify.hpp"
#include "model/ids.hpp"
#include "proc/view.hpp"

namespace kcg {

/// Resource: HintKind::thread with the VMM; HintKind::rescan after lost events. Where something
/// cannot be watched nothing fails: as long as a VM is not heard its threads are looked at again
/// and again.
class VcpuWatch final {
 public:
  /// `kvm`: KVM's directory in debugfs. That it is not there is no error.
  VcpuWatch(Loop& loop, ProcView& proc, std::string kvm, HintSink sink);
  VcpuWatch(const VcpuWatch&) = delete;
  VcpuWatch& operator=(const VcpuWatch&) = delete;
  ~VcpuWatch() = default;

  /// The sandbox's only VM, which `vmm` has not made yet: it is told, and watched from then on.
  void expect(const std::string& id, Pid vmm);
  /// `directory` as KvmVcpus tells it, of the sandbox's only VM; watching the same one again
  /// changes nothing.
  void watch(const std::string& id, Pid vmm, const std::string& directory);
  void unwatch(const std::string& id);
  /// Each vCPU that its VM gets from now on is told, and so is its VM.
  [[nodiscard]] bool hears(const std::string& id) const {
    return vms_.contains(id) || (kvm_wd_ >= 0 && expected_.contains(id));
  }

 private:
  /// Value: one VM.
  struct Vm {
    int wd = -1;
    Pid vmm = 0;
    std::string directory;
  };
  [[nodiscard]] bool watch_kvm();
  void on_event(int wd, std::uint32_t mask, std::string_view name);
  void on_vm(const std::string& name);
  void lost();

  ProcView& proc_;
  std::string kvm_;
  HintSink sink_;
  int kvm_wd_ = -1;                      ///< of KVM's directory; -1: it is not watched
  std::map<std::string, Pid> expected_;  ///< VMMs without a VM, by sandbox
  std::map<std::string, Vm> vms_;        ///< by sandbox
  std::map<int, std::string> by_wd_;     ///< their sandboxes
  Inotify inotify_;
};

}  // namespace kcg
