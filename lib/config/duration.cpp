// SPDX-License-Identifier: Apache-2.0
#include "config/duration.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <limits>

#include "base/text.hpp"

namespace kcg {

namespace {

struct Unit {
  std::string_view name;
  std::int64_t milliseconds;
};

constexpr Unit kUnits[] = {{"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}};

}  // namespace

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  const auto digits = text.find_first_not_of("0123456789");
  if (digits == std::string_view::npos) return std::nullopt;
  const auto number = parse_i64(text.substr(0, digits));
  if (!number) return std::nullopt;
  for (const auto& unit : kUnits) {
    if (unit.name != text.substr(digits)) continue;
    if (*number > std::numeric_limits<std::int64_t>::max() / unit.milliseconds) return std::nullopt;
    return std::chrono::milliseconds(*number * unit.milliseconds);
  }
  return std::nullopt;
}

std::string duration_text(std::chrono::milliseconds duration) {
  const std::int64_t count = duration.count();
  for (const auto& unit : kUnits)
    if (count != 0 && count % unit.milliseconds == 0)
      return fmt::format("{}{}", count / unit.milliseconds, unit.name);
  return "0s";
}

}  // namespace kcg
