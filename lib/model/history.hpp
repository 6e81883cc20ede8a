// SPDX-License-Identifier: Apache-2.0
//
// What a sandbox's limits depend on and the kernel does not remember (L1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace kcg {

/// Value: processes that the kernel killed for lack of memory, as far as they were told of.
struct OomHistory {
  std::uint64_t kills = 0;
  std::string text;
  std::uint64_t own_seen = 0;    ///< the count of our own groups when they were last read
  std::uint64_t own_before = 0;  ///< what an earlier VM of this id had left in it
  std::optional<std::uint64_t> pod_before;  ///< the pod's count when this VM was first seen
  bool operator==(const OomHistory&) const = default;
};

/// Value: sums over this VM's life; desired() brings them up to date, fold() keeps them.
struct History {
  std::optional<std::uint64_t> largest_memory_sum;
  bool container_started = false;
  OomHistory oom;
  bool operator==(const History&) const = default;
};

}  // namespace kcg
