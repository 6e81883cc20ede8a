// SPDX-License-Identifier: Apache-2.0
#include "daemon/node/meter.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "observe/counters.hpp"

namespace kcg {

namespace {

/// What a new sandbox may have to wait for at most, beside one measurement.
constexpr Instant kMeterSlice = std::chrono::milliseconds(2);

}  // namespace

void Meter::configure() {
  ++configuration_;
  if (!node_.config.measure_interval) forget();
  round_later();
}

/// What nobody measures any more is not told any more. The peak is known to the chronicle.
void Meter::forget() {
  for (const auto& id : node_.sandboxes.published()) {
    auto* entry = node_.sandboxes.find(id);
    entry->measuring = {};
    entry->overhead = {};
    node_.dirty(id);
  }
}

void Meter::round_later() {
  const auto interval = node_.config.measure_interval;
  if (!interval) return;
  node_.turns.after(node_.world.clock.now() + *interval, [this, mine = configuration_] {
    if (mine != configuration_) return;
    round_later();  // first: this chain must not break
    if (std::exchange(under_way_, true)) return;
    left_ = node_.sandboxes.published();
    node_.scheduler.add_job([this] {
      under_way_ = false;  // also where it throws
      under_way_ = go_on();
      return under_way_;
    });
    node_.turns.arm();
  });
}

std::optional<SandboxUsage> Meter::usage(const SandboxId& id) {
  auto* entry = node_.sandboxes.find(id);
  const auto interval = node_.config.measure_interval;
  if (entry == nullptr || !entry->published || !interval) return std::nullopt;
  const auto now = node_.world.clock.now();
  auto& asked = entry->asked;
  if (asked == nullptr || now >= asked->at + *interval)
    asked = std::make_unique<AskedCounters>(
        AskedCounters{group_counters(node_.world.tree, entry->view.whole()), now});
  return SandboxUsage{entry->measuring.use, entry->overhead.measured().peak, asked->counters};
}

/// One slice; false: that was the last one.
bool Meter::go_on() {
  const auto until = node_.world.clock.now() + kMeterSlice;
  while (!left_.empty()) {
    const auto id = std::move(left_.back());
    left_.pop_back();
    measure_one(id);
    if (node_.world.clock.now() >= until) break;
  }
  return !left_.empty();
}

void Meter::measure_one(const SandboxId& id) {
  auto* entry = node_.sandboxes.find(id);
  if (entry == nullptr || !entry->published) return;
  const auto view = entry->view.whole();
  auto target = measure_target(view, entry->record.trusted);
  if (!target) {
    entry->measuring = {};
    entry->overhead = {};
    return;
  }
  auto& [tree, proc, clock, systemd, store, log] = node_.world;
  const auto start = target->vmm.start;
  if (entry->measuring.vmm != target->vmm)
    entry->overhead = OverheadTrack(node_.chronicle.histories().overhead_peak(id.str(), start));
  target->ram = [this, &id, vmm = target->vmm] {
    return ram_of(node_.world.proc, vmm, node_.inputs.inputs(id).inputs);
  };
  target->ceiling = entry->ceiling;
  measure(tree, proc, clock, *target, entry->measuring);
  entry->measuring.cpu.note(cpu_usage(tree, view), clock.now());
  entry->overhead.note(entry->measuring.use.overhead, clock.now(), node_.config.reconcile_interval);
  const auto told = [entry](ConditionName condition) {
    return std::any_of(entry->told.begin(), entry->told.end(),
                       [condition](const auto& one) { return one.condition == condition; });
  };
  const auto recent = entry->overhead.measured().recent.value_or(0);
  const bool exceeded = recent > view.overhead.memory_bytes;
  const bool near = entry->measuring.near_limit.now().has_value();
  if (told(ConditionName::overhead_exceeded) != exceeded ||
      told(ConditionName::memory_near_limit) != near)
    node_.dirty(id);
  if (const auto peak = entry->overhead.measured().peak)
    node_.chronicle.overhead(id.str(), start, *peak, target->ram);
}

}  // namespace kcg
