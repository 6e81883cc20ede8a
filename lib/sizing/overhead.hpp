// SPDX-License-Identifier: Apache-2.0
//
// The annotation that tells a VM's overhead (L3).
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.hpp"

namespace kcg {

/// The annotation's MiB, or the rule that it breaks.
[[nodiscard]] Result<std::uint64_t> parse_overhead_annotation(std::string_view text,
                                                              std::uint64_t max_mib);

}  // namespace kcg
