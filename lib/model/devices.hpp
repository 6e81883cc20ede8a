// SPDX-License-Identifier: Apache-2.0
//
// Device rules on cgroup v2 (L1): BPF programs of type "cgroup device" that are attached to a
// group. Those above it hold, too; they need no copy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kcg {

/// BPF_F_ALLOW_MULTI: further programs join instead of taking its place.
inline constexpr std::uint32_t kSeveralPrograms = 2;

/// Value: what is attached to this very group. `unreadable`: why that is not known, else "".
struct DevicePolicy {
  std::uint32_t flags = 0;              ///< of the attachment: BPF_F_ALLOW_OVERRIDE, _MULTI
  std::vector<std::uint32_t> programs;  ///< the kernel's ids, ascending
  std::string unreadable;
  bool operator==(const DevicePolicy&) const = default;
};

/// Value: one program that is attached to a group, or taken off again.
struct DeviceChange {
  std::uint32_t program = 0;
  std::uint32_t flags = 0;
  bool attach = true;
  bool operator==(const DeviceChange&) const = default;
};

}  // namespace kcg
