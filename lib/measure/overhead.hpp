// SPDX-License-Identifier: Apache-2.0
//
// Overhead used = what the group is charged with, less the guest's RAM, less files that can be
// reclaimed (L3): the heaps of VMM, file server and shim, page tables, kernel memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "measure/guest.hpp"
#include "model/usage.hpp"

namespace kcg {

/// Value: what the counter files of one group say, in bytes. Absent: the file, or the line, is not
/// there or holds no number.
struct MemoryCounters {
  std::optional<std::uint64_t> used;
  std::optional<std::uint64_t> files;      ///< active and inactive, without shared memory
  std::optional<std::uint64_t> shared;     ///< shmem
  std::optional<std::uint64_t> anonymous;  ///< of processes
  std::optional<std::uint64_t> hugetlb;    ///< v2, where hugetlbfs is charged to memory groups
  bool operator==(const MemoryCounters&) const = default;
};

/// `usage`: memory.current (v1: memory.usage_in_bytes); `stat`: memory.stat. Of v1 the sums over
/// the group and all below it, "total_...", count.
[[nodiscard]] MemoryCounters memory_counters(bool unified, std::string_view usage,
                                             std::string_view stat);

/// Unknown is unknown: a sum that lacks a part is not told.
[[nodiscard]] MemoryUse memory_use(const MemoryCounters& counters, const GuestLook& guest);

}  // namespace kcg
