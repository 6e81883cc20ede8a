// SPDX-License-Identifier: Apache-2.0
#include "observe/usage.hpp"

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "sizing/memory.hpp"
#include "sizing/request.hpp"

namespace kcg {

namespace {

/// A VMM that has just started has mapped no RAM yet.
constexpr Instant kFirstPause = std::chrono::seconds(1);

MemoryCounters read_counters(const CgroupTree& tree, const CgroupPath& path) {
  for (const auto& hierarchy : tree.host().hierarchies) {
    if (!hierarchy.has("memory")) continue;
    const GroupRef group{hierarchy.name, path};
    const bool unified = hierarchy.unified;
    const auto usage = tree.read(group, unified ? "memory.current" : "memory.usage_in_bytes");
    const auto stat = tree.read(group, "memory.stat");
    return memory_counters(unified, usage.value_or(""), stat.value_or(""));
  }
  return {};
}

/// A look at the mappings of one VMM.
class Look final {
 public:
  Look(ProcView& proc, const MeasureTarget& target, Measuring& measuring,
       const MemoryCounters& counters, Instant now)
      : proc_(proc), target_(target), state_(measuring), counters_(counters), now_(now) {}

  /// The counters that belong to what was found of private RAM; nullopt: nothing new was found.
  std::optional<MemoryCounters> take() {
    if (now_ < state_.look_at) return std::nullopt;
    if (state_.guest.memory != GuestMemory::private_memory) read(false);
    if (state_.guest.memory != GuestMemory::private_memory) return std::nullopt;
    return take_resident();
  }

 private:
  std::optional<MemoryCounters> take_resident() {
    const auto touched = proc_.charged_memory(target_.vmm.pid);
    if (!touched || *touched >= Measuring::kMostTouched) {
      state_.guest.resident.reset();
      state_.guest.unknown = touched ? "its VMM has touched so much private memory that looking at "
                                       "it would hold it up"
                                     : touched.error().text;
      state_.look_at = now_ + Measuring::kLookPause;
      return counters_;
    }
    if (!read(true)) {
      state_.look_at = now_;  // the answer is taken at the next measurement
      return std::nullopt;
    }
    if (!state_.guest.resident) return std::nullopt;
    return std::exchange(state_.asked, std::nullopt).value_or(counters_);
  }

  /// False: nothing has come of it yet.
  bool read(bool resident) {
    const auto mappings = proc_.mappings(target_.vmm, resident);
    if (!mappings && mappings.error().code == EAGAIN) {
      // It is read from now on, so what is found will go with what the counters say now.
      if (resident && !state_.asked) state_.asked = counters_;
      return false;
    }
    if (mappings)
      state_.guest = guest_in(*mappings, target_.ram ? target_.ram() : std::nullopt,
                              proc_.huge_memory(target_.vmm.pid).value_or(0));
    else
      state_.guest = {GuestMemory::unknown, std::nullopt, mappings.error().text};
    const bool told = state_.guest.memory != GuestMemory::unknown;
    state_.tries = told ? 0 : std::min(state_.tries + 1, 32U);
    state_.look_at = now_ + (told ? Measuring::kLookPause
                                  : doubled(kFirstPause, state_.tries - 1, Measuring::kLookPause));
    if (!resident) state_.asked.reset();
    return true;
  }

  ProcView& proc_;
  const MeasureTarget& target_;
  Measuring& state_;
  const MemoryCounters& counters_;
  Instant now_;
};

}  // namespace

std::optional<MeasureTarget> measure_target(const SandboxView& view,
                                            const std::set<Trusted>& trusted) {
  const bool outside = view.layout == Layout::legacy && !view.overhead_cgroup.empty();
  auto group = CgroupPath::parse(outside ? view.overhead_cgroup : view.sandbox_cgroup);
  const bool stands = std::any_of(
      view.groups.begin(), view.groups.end(),
      [&](const GroupView& one) { return one.exists && group && one.path == group->str(); });
  if (!stands) return std::nullopt;
  for (const auto& one : trusted)
    if (one.role == ProcessRole::vmm || one.hypervisor == Hypervisor::dragonball)
      return MeasureTarget{*std::move(group), one.key};
  return std::nullopt;
}

std::optional<std::uint64_t> ram_of(ProcView& proc, const TaskKey& vmm,
                                    const SandboxInputs& inputs) {
  const auto facts = proc.facts(vmm.pid);
  SizingRequest request;
  if (facts) request.vmm_memory = qemu_memory(facts->args);
  return vm_memory(inputs, request);
}

void measure(const CgroupTree& tree, ProcView& proc, const Clock& clock,
             const MeasureTarget& target, Measuring& measuring) {
  if (measuring.vmm != target.vmm) {
    measuring = {};
    measuring.vmm = target.vmm;
  }
  const auto counters = read_counters(tree, target.group);
  const auto found = Look(proc, target, measuring, counters, clock.now()).take();
  // Of private RAM the guest's part would be older than what it is taken from.
  const bool as_it_was =
      measuring.guest.memory == GuestMemory::private_memory && !found && measuring.use.at != 0;
  if (as_it_was) return;
  measuring.use = memory_use(found.value_or(counters), measuring.guest);
  measuring.use.at = clock.wall_seconds();
}

}  // namespace kcg
