// SPDX-License-Identifier: Apache-2.0
//
// The stat files of the tasks that were asked for last (L5, internal to proc/). Who is placed is
// asked for some five times: as it is heard of, looked at, before and after it is moved, and as its
// end is awaited. To open and close the file costs three times as much as to read it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/dir.hpp"
#include "base/fd.hpp"
#include "base/result.hpp"
#include "kernel/proc_stat.hpp"
#include "model/ids.hpp"

namespace kcg {

/// Resource: at most kMost open files. An open file is its task's for ever: when that has ended it
/// tells nothing, whoever has the number now.
class StatFiles final {
 public:
  static constexpr std::size_t kMost = 16;

  /// What the kernel says of a thread now. `path`, below `dir`, is where its file is opened if it
  /// is not open yet. ESRCH: it has ended.
  [[nodiscard]] Result<ProcStat> read(Pid process, Pid tid, const Dir& dir,
                                      const std::string& path);
  /// Open files.
  [[nodiscard]] std::size_t size() const;

 private:
  struct One {
    Pid process = 0;
    Pid tid = 0;
    Fd file;
    std::uint64_t used = 0;  ///< larger = later; 0: it is free
  };
  [[nodiscard]] One& place();
  void close_all();

  std::array<One, kMost> kept_;
  std::uint64_t uses_ = 0;
};

}  // namespace kcg
