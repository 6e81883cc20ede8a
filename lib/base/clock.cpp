// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"

#include <fmt/format.h>

#include <ctime>

#include "base/text.hpp"

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

std::optional<std::int64_t> parse_rfc3339(std::string_view text) {
  if (text.size() != 20) return std::nullopt;
  const auto part = [&](std::size_t at, std::size_t length) {
    return static_cast<unsigned>(parse_u64(text.substr(at, length)).value_or(10'000));
  };
  using namespace std::chrono;
  const year_month_day date(year(static_cast<int>(part(0, 4))), month(part(5, 2)), day(part(8, 2)));
  if (!date.ok()) return std::nullopt;
  const auto time = sys_days(date) + hours(part(11, 2)) + minutes(part(14, 2)) +
                    std::chrono::seconds(part(17, 2));
  const auto seconds = duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
  // What was not in this form is told differently.
  return rfc3339(seconds) == text ? std::optional<std::int64_t>(seconds) : std::nullopt;
}

}  // namespace kcg
