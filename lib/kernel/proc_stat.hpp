// SPDX-License-Identifier: Apache-2.0
//
// /proc/<pid>/stat and /proc/<pid>/task/<tid>/stat -> values (L2). Source: proc(5).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "model/ids.hpp"

namespace kcg {

/// Value: the fields that the product uses. Times are in clock ticks.
struct ProcStat {
  Pid pid = 0;
  std::string comm;  ///< verbatim: may hold spaces, ')' and newlines
  char state = '?';
  Pid ppid = 0;             ///< 0: none, or a parent outside our pid namespace
  std::uint64_t flags = 0;  ///< PF_* of the kernel
  std::uint64_t utime = 0;
  std::uint64_t stime = 0;
  std::uint64_t start = 0;  ///< field 22, since boot
  std::uint64_t guest = 0;  ///< field 43, contained in utime

  [[nodiscard]] TaskKey key() const { return {pid, start}; }
  /// PF_EXITING, or ended already.
  [[nodiscard]] bool ending() const {
    return (flags & kEnding) != 0 || state == 'Z' || state == 'X';
  }
  [[nodiscard]] bool kernel_thread() const { return (flags & kKernelThread) != 0; }
  static constexpr std::uint64_t kKernelThread = 0x00200000;  ///< PF_KTHREAD
  static constexpr std::uint64_t kEnding = 0x4;
  bool operator==(const ProcStat&) const = default;
};

[[nodiscard]] Result<ProcStat> parse_proc_stat(std::string_view text);

}  // namespace kcg
