// SPDX-License-Identifier: Apache-2.0
#include "kernel/limit_text.hpp"

#include "base/text.hpp"

namespace kcg {

namespace {

std::string text_or(Limit limit, std::string_view unlimited) {
  return limit ? fmt::format("{}", *limit) : std::string(unlimited);
}

Result<std::uint64_t> period_of(std::string_view text) {
  const auto period = parse_u64(text);
  if (!period || *period == 0)
    return fail(0, "cpu period '{}': not a positive number", escaped(text));
  return *period;
}

Result<CpuBandwidth> bandwidth(std::string_view quota, std::string_view unlimited,
                               std::string_view period) {
  auto length = period_of(period);
  if (!length) return forward(length.error());
  if (quota == unlimited) return CpuBandwidth{std::nullopt, *length};
  const auto value = parse_u64(quota);
  if (!value)
    return fail(0, "cpu quota '{}': neither '{}' nor a number", escaped(quota), unlimited);
  return CpuBandwidth{*value, *length};
}

}  // namespace

Result<CpuBandwidth> parse_cpu_max(std::string_view text) {
  const auto parts = words(text);
  if (parts.size() != 2) return fail(0, "cpu.max '{}': not 'quota period'", escaped(trim(text)));
  return bandwidth(parts[0], "max", parts[1]);
}

Result<CpuBandwidth> parse_cfs(std::string_view quota, std::string_view period) {
  return bandwidth(trim(quota), "-1", trim(period));
}

std::string memory_max_text(Limit limit) { return text_or(limit, "max"); }

std::string memory_limit_v1_text(Limit limit) { return text_or(limit, "-1"); }

std::string cpu_max_text(const CpuBandwidth& bandwidth) {
  return fmt::format("{} {}", text_or(bandwidth.quota, "max"), bandwidth.period);
}

std::string cfs_quota_text(Limit quota) { return text_or(quota, "-1"); }

}  // namespace kcg
