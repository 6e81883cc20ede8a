// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/vcpus.hpp"

#include <sys/inotify.h>

#include <utility>

namespace kcg {

VcpuWatch::VcpuWatch(Loop& loop, HintSink sink)
    : sink_(std::move(sink)),
      inotify_(loop, [this](int wd, std::uint32_t mask, auto /*name*/) { on_event(wd, mask); }) {}

void VcpuWatch::watch(const std::string& id, Pid vmm, const std::string& directory) {
  if (const auto known = vms_.find(id); known != vms_.end()) {
    if (known->second.vmm == vmm && known->second.directory == directory) return;
    unwatch(id);
  }
  const auto wd = inotify_.add(directory, IN_CREATE | IN_ONLYDIR);
  if (!wd || by_wd_.contains(*wd)) return;  // a VM is one sandbox's
  vms_.insert_or_assign(id, Vm{*wd, vmm, directory});
  by_wd_.insert_or_assign(*wd, id);
}

void VcpuWatch::unwatch(const std::string& id) {
  const auto vm = vms_.extract(id);
  if (vm.empty()) return;
  by_wd_.erase(vm.mapped().wd);
  inotify_.remove(vm.mapped().wd);
}

void VcpuWatch::on_event(int wd, std::uint32_t mask) {
  if ((mask & IN_Q_OVERFLOW) != 0) return lost();
  const auto id = by_wd_.find(wd);
  if (id == by_wd_.end()) return;
  const Pid vmm = vms_.at(id->second).vmm;
  if ((mask & IN_IGNORED) != 0) {
    vms_.erase(id->second);
    by_wd_.erase(id);
  } else {
    sink_({HintKind::thread, "", vmm});
  }
}

/// The looks that follow watch anew.
void VcpuWatch::lost() {
  vms_.clear();
  by_wd_.clear();
  sink_({HintKind::rescan, "", 0});
}

}  // namespace kcg
