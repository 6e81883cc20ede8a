// SPDX-License-Identifier: Apache-2.0
//
// What is measured of a sandbox, on the bus: counters and gauges with their units in the key.
#include <array>
#include <string>

#include "base/utf8.hpp"
#include "daemon/bus/convert.hpp"

namespace kcg::bus {

namespace {

/// As the keys name the classes, in the order of ThreadClass.
constexpr std::array<const char*, 4> kClasses = {"Vcpu", "Io", "Vmm", "Shim"};

void put(Properties& out, const std::string& key, const std::optional<std::uint64_t>& value) {
  if (value) out[key] = sdbus::Variant(*value);
}

void put_stall(Properties& out, const std::string& what, const StallCounters& stall) {
  put(out, what + "StalledUsec", stall.total_usec);
  put(out, what + "Stalled10sPermyriad", stall.average_10s);
}

void put_memory(Properties& out, const MemoryUse& memory) {
  put(out, "MemoryUsedBytes", memory.used);
  put(out, "MemoryGuestBytes", memory.guest);
  put(out, "MemoryCacheBytes", memory.cache);
  put(out, "MemoryOverheadUsedBytes", memory.overhead);
  if (memory.at > 0) out["MeasuredAt"] = sdbus::Variant(static_cast<std::uint64_t>(memory.at));
  if (memory.guest_memory != GuestMemory::unknown)
    out["GuestMemory"] = sdbus::Variant(std::string(name(memory.guest_memory)));
  if (!memory.unknown.empty())
    out["MemoryOverheadUnknown"] = sdbus::Variant(valid_utf8(memory.unknown));
}

}  // namespace

Properties usage_properties(const SandboxUsage& usage) {
  Properties out;
  put_memory(out, usage.memory);
  put(out, "MemoryOverheadPeakBytes", usage.overhead_peak);
  const auto& counters = usage.counters;
  put(out, "CpuTotalUsec", counters.cpu_usec);
  for (std::size_t i = 0; i < kClasses.size(); ++i) {
    const auto& cpu = counters.by_class.at(i);
    const std::string cls = kClasses.at(i);
    put(out, "CpuTotalUsec" + cls, cpu.usage_usec);
    put(out, "CpuThrottledUsec" + cls, cpu.throttled_usec);
    put(out, "CpuThrottledPeriods" + cls, cpu.throttled_periods);
  }
  put_stall(out, "Memory", counters.memory);
  put_stall(out, "Cpu", counters.cpu);
  put_stall(out, "Io", counters.io);
  return out;
}

}  // namespace kcg::bus
