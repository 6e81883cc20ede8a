// SPDX-License-Identifier: Apache-2.0
#include "observe/usage.hpp"

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "sizing/memory.hpp"
#include "sizing/request.hpp"

namespace kcg {

namespace {

/// A VMM that has just started has mapped no RAM yet.
constexpr Instant kFirstPause = std::chrono::seconds(1);

/// The counter files of one memory group.
class CounterFiles final {
 public:
  CounterFiles(const CgroupTree& tree, const CgroupPath& path) : tree_(tree) {
    for (const auto& hierarchy : tree.host().hierarchies)
      if (hierarchy.has("memory") && !group_) {
        group_ = {hierarchy.name, path};
        unified_ = hierarchy.unified;
      }
  }

  [[nodiscard]] std::string usage() const {
    return read(unified_ ? "memory.current" : "memory.usage_in_bytes");
  }
  [[nodiscard]] MemoryCounters with(std::string_view usage) const {
    return memory_counters(unified_, usage, read("memory.stat"));
  }

 private:
  [[nodiscard]] std::string read(const char* file) const {
    return group_ ? tree_.read(*group_, file).value_or("") : "";
  }

  const CgroupTree& tree_;
  std::optional<GroupRef> group_;
  bool unified_ = false;
};

/// Use without files that can be reclaimed; where they do not matter, with them.
std::optional<std::uint64_t> kept_of(const CounterFiles& files, const std::string& usage,
                                     const MemoryCeiling& limit) {
  const auto used = parse_u64(trim(usage));
  if (!used) return std::nullopt;
  if (!NearLimitTrack::matters(*used, limit)) return *used;
  const auto counters = files.with(usage);
  if (!counters.files) return std::nullopt;
  return *used - std::min(*used, *counters.files);
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
    return std::exchange(state_.asked, {}).get().value_or(counters_);
  }

  /// False: nothing has come of it yet.
  bool read(bool resident) {
    const auto mappings = proc_.mappings(target_.vmm, resident);
    if (!mappings && mappings.error().code == EAGAIN) {
      // It is read from now on, so what is found will go with what the counters say now.
      if (resident && state_.asked.ordinary())
        state_.asked.change([&](auto& asked) { asked = counters_; });
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
    if (!resident) state_.asked = {};
    return true;
  }

  ProcView& proc_;
  const MeasureTarget& target_;
  Measuring& state_;
  const MemoryCounters& counters_;
  Instant now_;
};

/// The composition is counted again where it can be another one, and sometimes anyway.
bool still_holds(const Measuring& last, std::optional<std::uint64_t> used, Instant now) {
  if (last.use.at == 0 || now >= last.look_at) return false;
  if (last.guest.memory == GuestMemory::private_memory) return true;
  if (!used || !last.use.used || now >= last.counted_at + Measuring::kCountPause) return false;
  return std::max(*used, *last.use.used) - std::min(*used, *last.use.used) < Measuring::kSame;
}

}  // namespace

std::optional<MeasureTarget> measure_target(const SandboxView& view,
                                            const FlatSet<Trusted>& trusted) {
  const bool outside = view.layout == Layout::legacy && !view.overhead_cgroup.empty();
  auto group = CgroupPath::parse(outside ? view.overhead_cgroup : view.sandbox_cgroup);
  const bool stands = std::any_of(
      view.groups.begin(), view.groups.end(),
      [&](const GroupView& one) { return one.exists && group && one.path == group->str(); });
  if (!stands) return std::nullopt;
  for (const auto& one : trusted)
    if (runs_vm(one.role, one.hypervisor)) return MeasureTarget{*std::move(group), one.key};
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
  const CounterFiles files(tree, target.group);
  const auto usage = files.usage();
  measuring.near_limit.note(target.ceiling ? kept_of(files, usage, *target.ceiling) : std::nullopt,
                            target.ceiling);
  if (still_holds(measuring, parse_u64(trim(usage)), clock.now())) return;
  const auto counters = files.with(usage);
  const auto found = Look(proc, target, measuring, counters, clock.now()).take();
  // Of private RAM the guest's part would be older than what it is taken from.
  const bool as_it_was =
      measuring.guest.memory == GuestMemory::private_memory && !found && measuring.use.at != 0;
  if (as_it_was) return;
  measuring.use = memory_use(found.value_or(counters), measuring.guest);
  measuring.use.at = clock.wall_seconds();
  measuring.counted_at = clock.now();
}

}  // namespace kcg
