// SPDX-License-Identifier: Apache-2.0
//
// What a sandbox's limits depend on and the kernel does not remember (L1).
#pragma once

#include <cstdint>
#include <optional>

namespace kcg {

/// Value: sums over this VM's life; desired() brings them up to date, fold() keeps them.
struct History {
  std::optional<std::uint64_t> largest_memory_sum;
  bool container_started = false;
  bool operator==(const History&) const = default;
};

}  // namespace kcg
