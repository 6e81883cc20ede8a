// SPDX-License-Identifier: Apache-2.0
#include "base/amounts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/units.hpp"

namespace kcg {

std::string bytes_text(std::uint64_t bytes) {
  if (bytes < kMib) return fmt::format("{} bytes", bytes);
  if (bytes % kMib == 0) return fmt::format("{} MiB", bytes / kMib);
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / static_cast<double>(kMib));
}

std::string formula_text(std::string_view formula) {
  constexpr std::string_view kEnds = " ();,:";
  std::string out;
  for (std::size_t at = 0; at < formula.size();) {
    const auto end = std::min(formula.find_first_of(kEnds, at), formula.size());
    const auto word = formula.substr(at, end - at);
    const auto number = parse_u64(word);
    out += number && *number >= kMib ? bytes_text(*number) : std::string(word);
    if (end < formula.size()) out += formula[end];
    at = end + 1;
  }
  return out;
}

}  // namespace kcg
