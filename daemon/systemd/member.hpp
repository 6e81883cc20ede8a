// SPDX-License-Identifier: Apache-2.0
//
// The processes that go into a new scope (L6), proven to be those that were meant.
#pragma once

#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "proc/view.hpp"

namespace kcg::systemd {

/// Resource: one process and the descriptor that stands for it and for no later one.
struct Member {
  Pid pid = 0;
  Fd pidfd;
};

/// Who has ended meanwhile is left out. ESRCH: nobody is left.
[[nodiscard]] Result<std::vector<Member>> open_members(ProcView& proc,
                                                       const std::vector<TaskKey>& keys);

}  // namespace kcg::systemd
