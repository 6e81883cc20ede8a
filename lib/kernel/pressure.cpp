// SPDX-License-Identifier: Apache-2.0
#include "kernel/pressure.hpp"

#include <limits>
#include <optional>

#include "base/text.hpp"

namespace kcg {

namespace {

/// "12.34" -> 1234; the kernel always writes two decimals.
std::optional<std::uint64_t> parse_hundredths(std::string_view text) {
  const auto point = text.find('.');
  if (point == std::string_view::npos || text.size() != point + 3) return std::nullopt;
  const auto whole = parse_u64(text.substr(0, point));
  const auto rest = parse_u64(text.substr(point + 1));
  if (!whole || !rest || *whole > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return *whole * 100 + *rest;
}

}  // namespace

Result<Pressure> parse_pressure(std::string_view text) {
  constexpr std::string_view kAverage = "avg10=", kTotal = "total=";
  for (const auto line : lines(text)) {
    const auto parts = words(line);
    if (parts.empty() || parts[0] != "some") continue;
    std::optional<std::uint64_t> average, total;
    for (const auto part : parts) {
      if (part.starts_with(kAverage)) average = parse_hundredths(part.substr(kAverage.size()));
      if (part.starts_with(kTotal)) total = parse_u64(part.substr(kTotal.size()));
    }
    if (!average || !total) return fail(0, "pressure: not understood: '{}'", escaped(line));
    return Pressure{*average, *total};
  }
  return fail(0, "pressure: no line 'some'");
}

}  // namespace kcg
