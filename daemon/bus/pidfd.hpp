// SPDX-License-Identifier: Apache-2.0
//
// Which process a caller's pidfd stands for (L9).
#pragma once

#include "base/result.hpp"
#include "model/ids.hpp"

namespace kcg::bus {

/// The process with its start time. The descriptor pins the process, so the pid cannot be reused
/// between the two reads unless the process ended; that is looked at last.
[[nodiscard]] Result<TaskKey> task_of_pidfd(int fd);

}  // namespace kcg::bus
