// SPDX-License-Identifier: Apache-2.0
//
// The process that a new scope begins with (L6), proven to be the one that was meant.
#pragma once

#include "base/fd.hpp"
#include "base/result.hpp"
#include "proc/view.hpp"

namespace kcg::systemd {

/// Resource: one process and the descriptor that stands for it and for no later one.
struct Member {
  Pid pid = 0;
  Fd pidfd;
};

/// ESRCH: it has ended.
[[nodiscard]] Result<Member> open_member(ProcView& proc, const TaskKey& key);

}  // namespace kcg::systemd
