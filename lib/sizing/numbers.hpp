// SPDX-License-Identifier: Apache-2.0
//
// The two curves from cpu.shares to cpu.weight (L3).
#pragma once

#include <cstdint>

namespace kcg {

/// cpu.shares -> cpu.weight, the curve of newer runtimes and the older linear one.
[[nodiscard]] std::uint64_t weight_of_shares(std::uint64_t shares);
[[nodiscard]] std::uint64_t weight_of_shares_old(std::uint64_t shares);

}  // namespace kcg
