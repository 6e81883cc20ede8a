// SPDX-License-Identifier: Apache-2.0
//
// What this thread has cost so far (L9).
#pragma once

#include <ctime>

#include "base/clock.hpp"

namespace kcg {

/// CPU time that this thread has used.
[[nodiscard]] inline Instant thread_cpu_time() {
  timespec ts{};
  (void)::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);  // ignored: cannot fail with a valid clock
  return std::chrono::seconds(ts.tv_sec) +
         std::chrono::duration_cast<Instant>(std::chrono::nanoseconds(ts.tv_nsec));
}

}  // namespace kcg
