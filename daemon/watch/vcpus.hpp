// SPDX-License-Identifier: Apache-2.0
//
// vCPUs that KVM comes to know (L8): it makes a directory for each in its VM's directory in
// debugfs. That one has begun to run it tells nobody. Source: virt/kvm/kvm_main.c.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "daemon/loop.hpp"
#include "daemon/watch/inotify.hpp"
#include "model/ids.hpp"

namespace kcg {

/// Resource: HintKind::thread with the VMM; HintKind::rescan after lost events. Where a VM cannot
/// be watched nothing fails: as long as it is not heard its threads are looked at again and again.
class VcpuWatch final {
 public:
  VcpuWatch(Loop& loop, HintSink sink);
  VcpuWatch(const VcpuWatch&) = delete;
  VcpuWatch& operator=(const VcpuWatch&) = delete;
  ~VcpuWatch() = default;

  /// `directory` as KvmVcpus tells it, of the sandbox's only VM; watching the same one again
  /// changes nothing.
  void watch(const std::string& id, Pid vmm, const std::string& directory);
  void unwatch(const std::string& id);
  /// Each vCPU that its VM gets from now on is told.
  [[nodiscard]] bool hears(const std::string& id) const { return vms_.contains(id); }

 private:
  /// Value: one VM.
  struct Vm {
    int wd = -1;
    Pid vmm = 0;
    std::string directory;
  };
  void on_event(int wd, std::uint32_t mask);
  void lost();

  HintSink sink_;
  std::map<std::string, Vm> vms_;     ///< by sandbox
  std::map<int, std::string> by_wd_;  ///< their sandboxes
  Inotify inotify_;
};

}  // namespace kcg
