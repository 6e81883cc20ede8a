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

/// Every number and its key: read from a sandbox, and written into one. `Usage` may be const.
template <class Usage, class Visit>
void each_number(Usage& usage, Visit&& visit) {
  auto& memory = usage.memory;
  visit("MemoryUsedBytes", memory.used);
  visit("MemoryGuestBytes", memory.guest);
  visit("MemoryCacheBytes", memory.cache);
  visit("MemoryOverheadUsedBytes", memory.overhead);
  visit("MemoryOverheadPeakBytes", usage.overhead_peak);
  auto& counters = usage.counters;
  visit("OomKills", counters.oom_kills);
  visit("CpuTotalUsec", counters.cpu_usec);
  for (std::size_t i = 0; i < kClasses.size(); ++i) {
    auto& cpu = counters.by_class.at(i);
    const std::string cls = kClasses.at(i);
    visit("CpuTotalUsec" + cls, cpu.usage_usec);
    visit("CpuThrottledUsec" + cls, cpu.throttled_usec);
    visit("CpuThrottledPeriods" + cls, cpu.throttled_periods);
  }
  const auto stall = [&visit](const std::string& what, auto& one) {
    visit(what + "StalledUsec", one.total_usec);
    visit(what + "Stalled10sPermyriad", one.average_10s);
  };
  stall("Memory", counters.memory);
  stall("Cpu", counters.cpu);
  stall("Io", counters.io);
}

}  // namespace

Properties usage_properties(const SandboxUsage& usage) {
  Properties out;
  each_number(usage, [&out](const std::string& key, const auto& value) {
    if (value) out[key] = sdbus::Variant(*value);
  });
  const auto& memory = usage.memory;
  if (memory.at > 0) out["MeasuredAt"] = sdbus::Variant(static_cast<std::uint64_t>(memory.at));
  if (memory.guest_memory != GuestMemory::unknown)
    out["GuestMemory"] = sdbus::Variant(std::string(name(memory.guest_memory)));
  if (!memory.unknown.empty())
    out["MemoryOverheadUnknown"] = sdbus::Variant(valid_utf8(memory.unknown));
  return out;
}

SandboxUsage numbers_from(const Properties& properties) {
  SandboxUsage usage;
  each_number(usage, [&properties](const std::string& key, auto& value) {
    if (const auto it = properties.find(key); it != properties.end())
      value = it->second.template get<std::uint64_t>();
  });
  return usage;
}

}  // namespace kcg::bus
