// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/vcpus.hpp"

#include <sys/inotify.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace kcg {

VcpuWatch::VcpuWatch(Loop& loop, ProcView& proc, std::string kvm, HintSink sink)
    : proc_(proc),
      kvm_(std::move(kvm)),
      sink_(std::move(sink)),
      inotify_(loop, [this](int wd, std::uint32_t mask, std::string_view name) {
        on_event(wd, mask, name);
      }) {
  (void)watch_kvm();  // ignored: tried again for each VM that is expected
}

/// True: it is watched from now on.
bool VcpuWatch::watch_kvm() {
  if (kvm_wd_ >= 0) return false;
  const auto wd = inotify_.add(kvm_, IN_CREATE | IN_ONLYDIR);
  if (wd) kvm_wd_ = *wd;
  return wd.has_value();
}

void VcpuWatch::expect(const std::string& id, Pid vmm) {
  unwatch(id);
  expected_.insert_or_assign(id, vmm);
  if (watch_kvm()) sink_({HintKind::thread, "", vmm});  // it may have made its VM before
}

void VcpuWatch::watch(const std::string& id, Pid vmm, const std::string& directory) {
  if (const auto known = vms_.find(id); known != vms_.end()) {
    if (known->second.vmm == vmm && known->second.directory == directory) return;
    unwatch(id);
  }
  const auto wd = inotify_.add(directory, IN_CREATE | IN_ONLYDIR);
  if (!wd || by_wd_.contains(*wd)) return;  // a VM is one sandbox's
  expected_.erase(id);
  vms_.insert_or_assign(id, Vm{*wd, vmm, directory});
  by_wd_.insert_or_assign(*wd, id);
}

void VcpuWatch::unwatch(const std::string& id) {
  expected_.erase(id);
  const auto vm = vms_.extract(id);
  if (vm.empty()) return;
  by_wd_.erase(vm.mapped().wd);
  inotify_.remove(vm.mapped().wd);
}

void VcpuWatch::on_event(int wd, std::uint32_t mask, std::string_view name) {
  if ((mask & IN_Q_OVERFLOW) != 0) return lost();
  if (wd == kvm_wd_ && (mask & IN_IGNORED) != 0) {
    kvm_wd_ = -1;
    return;
  }
  if (wd == kvm_wd_) return on_vm(std::string(name));
  const auto id = by_wd_.find(wd);
  if (id == by_wd_.end()) return;
  const Pid vmm = vms_.at(id->second).vmm;
  if ((mask & IN_IGNORED) != 0) {
    vms_.erase(id->second);
    by_wd_.erase(id);
  } else if ((mask & IN_ISDIR) != 0) {  // its files count things
    sink_({HintKind::thread, "", vmm});
  }
}

/// "<tid>-<fd>". Whoever may open /dev/kvm makes as many as he likes: nothing of his is read, but
/// once whether a VMM that is to make one has such a thread.
void VcpuWatch::on_vm(const std::string& name) {
  const auto dash = name.find('-');
  const auto tid = dash == std::string::npos ? std::nullopt : parse_pid(name.substr(0, dash));
  if (!tid) return;
  const auto made_by = [this](auto whose) {
    return std::find_if(expected_.begin(), expected_.end(),
                        [&](const auto& one) { return whose(one.second); });
  };
  auto expected = made_by([&](Pid vmm) { return vmm == *tid; });
  if (expected == expected_.end())
    expected = made_by([&](Pid vmm) { return proc_.thread_stat(vmm, *tid).has_value(); });
  if (expected == expected_.end()) return;
  const auto [id, vmm] = *expected;
  watch(id, vmm, kvm_ + '/' + name);
  expected_.erase(id);
  sink_({HintKind::thread, "", vmm});
}

/// The looks that follow watch anew.
void VcpuWatch::lost() {
  kvm_wd_ = -1;
  expected_.clear();
  vms_.clear();
  by_wd_.clear();
  sink_({HintKind::rescan, "", 0});
}

}  // namespace kcg
