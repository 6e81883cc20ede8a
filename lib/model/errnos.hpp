// SPDX-License-Identifier: Apache-2.0
//
// The kernel's error numbers that decisions are made by (L1): pure rooms see no system header.
// apply/, which gets them from the kernel, holds them against <cerrno>.
#pragma once

namespace kcg::errnos {

inline constexpr int kNotThere = 2;       ///< ENOENT
inline constexpr int kNoTask = 3;         ///< ESRCH
inline constexpr int kBusy = 16;          ///< EBUSY
inline constexpr int kNoDevice = 19;      ///< ENODEV
inline constexpr int kNotDirectory = 20;  ///< ENOTDIR
inline constexpr int kInvalid = 22;       ///< EINVAL
inline constexpr int kUnsupported = 95;   ///< EOPNOTSUPP

// That much is known: what was asked for is not there. Any other error says nothing about it.

/// A file or directory.
[[nodiscard]] constexpr bool no_file(int code) {
  return code == kNotThere || code == kNotDirectory;
}
/// A task, or what the kernel shows of it.
[[nodiscard]] constexpr bool no_task(int code) {
  return code == kNoTask || code == kNotThere || code == kNoDevice;
}
/// A group, or a file that it has.
[[nodiscard]] constexpr bool no_group_file(int code) {
  return no_file(code) || code == kNoDevice || code == kUnsupported;
}

}  // namespace kcg::errnos
