// SPDX-License-Identifier: Apache-2.0
//
// What the kernel knows a file by (L1): paths differ (/var/run and /run), and the same path may
// lead elsewhere a moment later.
#pragma once

#include <cstdint>

namespace kcg {

/// Value: device and inode, as fstat(2) has them.
struct FileId {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool operator==(const FileId&) const = default;
};

}  // namespace kcg
