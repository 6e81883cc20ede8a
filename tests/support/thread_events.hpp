// SPDX-License-Identifier: Apache-2.0
//
// What a guest, and its VMM, do to the VMM's threads, and what a daemon that hears all is told.
#pragma once

#include <chrono>
#include <optional>
#include <utility>

#include "model/stirred.hpp"
#include "property/random.hpp"
#include "support/sandbox_world.hpp"

namespace kcg::test {

/// Nobody knows which.
[[nodiscard]] inline Stirred any_of(Pid process) {
  Stirred stirred;
  stirred[process].add({});
  return stirred;
}

class ThreadEvents final {
 public:
  /// `deaf`: nothing but that there was something is told.
  ThreadEvents(Random& random, SandboxWorld& world, bool deaf)
      : random_(random), world_(world), deaf_(deaf) {
    world_.context.told = hears();
  }

  [[nodiscard]] Told hears() const {
    return deaf_ ? Told{} : Told{true, world_.scenario.kvm_entries, false};
  }
  /// Since it was asked last.
  [[nodiscard]] Stirred told() {
    if (deaf_) return any_of(world_.vmm);
    return std::exchange(told_, {});
  }

  /// One thing. Nobody tells that a vCPU runs. Nor is it told what a thread does, which matters
  /// where KVM tells nothing, or that one has ended: then another one is born.
  void happen() {
    auto& proc = world_.proc;
    const Pid vmm = world_.vmm;
    const auto tids = world_.tree.threads_of(vmm);
    if (tids.empty()) return;
    const Pid any = random_.one_of(tids);
    switch (random_.upto(8)) {
      case 0:
        return tell(proc.add_thread(vmm, random_.chance(50) ? "worker" : "IO more", any));
      case 1:
        return tell(proc.add_thread(vmm, random_.chance(50) ? "IO more" : "CPU 9/KVM"));
      case 2:
        if (any == vmm) return;
        proc.rename(any, random_.chance(50) ? "worker" : "IO named");
        return tell(any);
      case 3:
        if (any != vmm) proc.exit_thread(any);
        return tell(proc.add_thread(vmm, "worker"));
      case 4:
        tell(world_.plug_vcpu(random_.chance(50)));
        told_[vmm].add({});  // by KVM
        return;
      case 5:
        if (!world_.scenario.kvm_entries) proc.set_vcpu_ioctl(any);
        return tell(proc.add_thread(vmm, "worker"));
      case 6:
        if (!world_.vcpus.empty()) world_.run_vcpu(world_.vcpus.back());
        return;
      default:
        world_.clock.advance(std::chrono::milliseconds(random_.upto(700)));
    }
  }

 private:
  void tell(Pid tid) { told_[world_.vmm].add({tid}); }

  Random& random_;
  SandboxWorld& world_;
  bool deaf_;
  Stirred told_;
};

}  // namespace kcg::test
