// SPDX-License-Identifier: Apache-2.0
//
// What a sandbox really uses, measured (L1). What is not known is absent, never a guess.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kcg {

/// How the RAM of the guest is mapped into its VMM.
enum class GuestMemory : std::uint8_t {
  unknown,
  shared,          ///< a file that others can map too: a memfd, a file in /dev/shm
  hugetlb,         ///< hugetlbfs: charged to no memory group
  private_memory,  ///< anonymous
};
/// "shared", "hugetlb", "private"; "" for unknown.
[[nodiscard]] constexpr std::string_view name(GuestMemory memory) {
  constexpr std::array<std::string_view, 4> kNames = {"", "shared", "hugetlb", "private"};
  return kNames.at(static_cast<std::size_t>(memory));
}

/// Value: the memory of a sandbox at one moment, all in bytes.
struct MemoryUse {
  GuestMemory guest_memory = GuestMemory::unknown;
  std::optional<std::uint64_t> used;      ///< what the group is charged with
  std::optional<std::uint64_t> guest;     ///< the guest's RAM in it
  std::optional<std::uint64_t> cache;     ///< files in it, which can be reclaimed
  std::optional<std::uint64_t> overhead;  ///< used - guest - cache
  std::string unknown;                    ///< why the overhead is not known; "": it is
  std::int64_t at = 0;                    ///< seconds since 1970; 0: nobody has measured
  bool operator==(const MemoryUse&) const = default;
};

/// Value: what is told of the overhead, in bytes.
struct OverheadMeasured {
  std::optional<std::uint64_t> used;    ///< now
  std::optional<std::uint64_t> recent;  ///< the most for at least one whole resync
  std::optional<std::uint64_t> peak;    ///< the most of this VM's life
  bool operator==(const OverheadMeasured&) const = default;
};

/// Value: all that is told of a sandbox between two questions.
struct Measured {
  OverheadMeasured overhead;
  std::optional<std::uint64_t> cpu_milli;  ///< thousandths of a CPU, since it was measured before
  bool operator==(const Measured&) const = default;
};

/// Value: the smallest of the limits that hold for the memory of a group.
struct MemoryCeiling {
  std::uint64_t bytes = 0;
  std::string group;  ///< whose it is: the group itself, or one above it
  bool operator==(const MemoryCeiling&) const = default;
};

/// Value: memory that has come near its limit.
struct NearLimit {
  std::uint64_t kept = 0;  ///< bytes that cannot simply be reclaimed: without files
  MemoryCeiling limit;
  bool operator==(const NearLimit&) const = default;
};

/// Value: counters of one group's CPU time. They only grow while the group lives.
struct CpuCounters {
  std::optional<std::uint64_t> usage_usec, throttled_usec, throttled_periods;
  bool operator==(const CpuCounters&) const = default;
};

/// Value: for how long at least one task waited.
struct StallCounters {
  std::optional<std::uint64_t> total_usec;
  std::optional<std::uint64_t> average_10s;  ///< hundredths of a per cent of the last 10 s
  bool operator==(const StallCounters&) const = default;
};

/// Value: counters of a sandbox's groups at one moment.
struct GroupCounters {
  std::optional<std::uint64_t> cpu_usec;        ///< of the whole sandbox
  std::optional<std::uint64_t> throttled_usec;  ///< of all its groups
  std::array<CpuCounters, 4> by_class;          ///< by ThreadClass
  std::optional<std::uint64_t> memory_used;     ///< bytes
  std::optional<std::uint64_t> oom_kills;       ///< processes that were killed for memory
  StallCounters memory, cpu, io;                ///< v2 only
  bool operator==(const GroupCounters&) const = default;
};

/// Value: all that is measured of a sandbox.
struct SandboxUsage {
  MemoryUse memory;
  std::optional<std::uint64_t> overhead_peak;  ///< bytes
  GroupCounters counters;
};

}  // namespace kcg
