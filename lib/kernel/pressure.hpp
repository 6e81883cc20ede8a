// SPDX-License-Identifier: Apache-2.0
//
// Pressure files (L2): memory.pressure, cpu.pressure, io.pressure. Source: the kernel's
// Documentation/accounting/psi.rst.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.hpp"

namespace kcg {

/// Value: the line "some": time in which at least one task waited.
struct Pressure {
  std::uint64_t average_10s = 0;  ///< hundredths of a per cent of the last 10 s
  std::uint64_t total_usec = 0;
  bool operator==(const Pressure&) const = default;
};

/// An error: there is no such line, or it lacks avg10 or total.
[[nodiscard]] Result<Pressure> parse_pressure(std::string_view text);

}  // namespace kcg
