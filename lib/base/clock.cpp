// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"

#include <ctime>

namespace kcg {

Instant SystemClock::now() const {
  timespec ts{};
  (void)::clock_gettime(CLOCK_BOOTTIME, &ts);  // ignored: cannot fail with a valid clock
  return std::chrono::seconds(ts.tv_sec) +
         std::chrono::duration_cast<Instant>(std::chrono::nanoseconds(ts.tv_nsec));
}

std::int64_t SystemClock::wall_seconds() const { return std::time(nullptr); }

}  // namespace kcg
