// SPDX-License-Identifier: Apache-2.0
//
// Sizes as /proc writes them (L2): "RssAnon:   1024 kB".
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "base/text.hpp"

namespace kcg {

/// The words of such a line; nullopt: it is none, or more than 2^63 bytes.
[[nodiscard]] inline std::optional<std::uint64_t> bytes_of_kib(
    const std::vector<std::string_view>& line) {
  constexpr std::uint64_t kKib = 1024;
  if (line.size() != 3 || line[2] != "kB") return std::nullopt;
  const auto kib = parse_u64(line[1]);
  if (!kib || *kib > std::numeric_limits<std::uint64_t>::max() / kKib / 2) return std::nullopt;
  return *kib * kKib;
}

}  // namespace kcg
