// SPDX-License-Identifier: Apache-2.0
//
// Limits as control files spell them (L2). Source: the kernel's cgroup-v2.rst and cgroup-v1/*.rst.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace kcg {

/// v1 shows "unlimited" as LONG_MAX rounded down to a page, and takes what is not less for it; 64
/// KiB is the largest page.
inline constexpr std::uint64_t kUnlimitedMemory = (std::uint64_t{1} << 63) - 65536;

/// The period that we always write.
inline constexpr std::uint64_t kPeriodUs = 100'000;

/// A value, or nothing for "unlimited"; never a magic number.
using Limit = std::optional<std::uint64_t>;

/// Value: CPU bandwidth in microseconds per period.
struct CpuBandwidth {
  Limit quota;
  std::uint64_t period = kPeriodUs;
  bool operator==(const CpuBandwidth&) const = default;
};

/// cpu.max: "max 100000", "150000 100000".
[[nodiscard]] Result<CpuBandwidth> parse_cpu_max(std::string_view text);
/// cpu.cfs_quota_us (-1: unlimited) and cpu.cfs_period_us.
[[nodiscard]] Result<CpuBandwidth> parse_cfs(std::string_view quota, std::string_view period);

[[nodiscard]] std::string memory_max_text(Limit limit);       ///< v2
[[nodiscard]] std::string memory_limit_v1_text(Limit limit);  ///< v1: -1 is unlimited
[[nodiscard]] std::string cpu_max_text(const CpuBandwidth& bandwidth);
[[nodiscard]] std::string cfs_quota_text(Limit quota);

}  // namespace kcg
