// SPDX-License-Identifier: Apache-2.0
//
// /proc/<pid>/maps and /proc/<pid>/smaps (L2). Source: proc(5). Both begin each mapping with the
// same line; smaps adds lines "Rss:  12 kB".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace kcg {

/// Value: one mapping of a process.
struct Mapping {
  std::uint64_t bytes = 0;
  bool writable = false;
  bool shared = false;
  bool file = false;   ///< of an inode: a file, a memfd, hugetlbfs, shared memory without a name
  bool plain = false;  ///< of none, and neither heap nor stack
  std::optional<std::uint64_t> resident;  ///< bytes, without hugetlbfs; nullopt: maps tells none
  bool operator==(const Mapping&) const = default;
};

/// In the order of the file. An error: a line that the kernel does not write; so a text that was
/// cut is none.
[[nodiscard]] Result<std::vector<Mapping>> parse_mappings(std::string_view text);

}  // namespace kcg
