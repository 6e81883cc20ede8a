// SPDX-License-Identifier: Apache-2.0
//
// A descriptor that stands for one process for ever (L5).
#pragma once

#include "base/fd.hpp"
#include "base/result.hpp"
#include "model/process.hpp"
#include "proc/view.hpp"

namespace kcg {

/// Of this very process, and of none that has got its pid since. ESRCH: it has ended; any other
/// error says nothing about it.
[[nodiscard]] Result<Fd> open_pidfd(ProcView& proc, const TaskKey& process);

}  // namespace kcg
