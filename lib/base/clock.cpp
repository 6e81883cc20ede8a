// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"

#include <fmt/format.h>

#include <ctime>

namespace kcg {

Instant SystemClock::now() const {
  timespec ts{};
  (void)::clock_gettime(CLOCK_BOOTTIME, &ts);  // ignored: cannot fail with a valid clock
  return std::chrono::seconds(ts.tv_sec) +
         std::chrono::duration_cast<Instant>(std::chrono::nanoseconds(ts.tv_nsec));
}

std::int64_t SystemClock::wall_seconds() const { return std::time(nullptr); }

std::string rfc3339(std::int64_t seconds) {
  using std::chrono::floor;
  const std::chrono::sys_seconds time{std::chrono::seconds(seconds)};
  const auto day = floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  const int year = static_cast<int>(date.year());
  if (year < 0 || year > 9999) return "";
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", year,
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

}  // namespace kcg
