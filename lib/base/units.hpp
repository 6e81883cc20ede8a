// SPDX-License-Identifier: Apache-2.0
//
// Units (L0).
#pragma once

#include <cstdint>

namespace kcg {

inline constexpr std::uint64_t kMib = std::uint64_t{1} << 20;  ///< bytes

}  // namespace kcg
