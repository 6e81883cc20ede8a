// SPDX-License-Identifier: Apache-2.0
#include "kernel/unit_properties.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <string_view>

#include "base/text.hpp"
#include "kernel/cpuset.hpp"
#include "kernel/limit_text.hpp"

namespace kcg {

namespace {

constexpr std::uint64_t kInfinity = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kUsecPerSec = 1'000'000;
/// One per cent of a CPU. A transient unit is kept as text with whole per cents and read again at
/// daemon-reload: anything finer would be cut off then.
constexpr std::uint64_t kPerCent = kUsecPerSec / 100;
/// The kernel takes quotas and periods from one millisecond to one second.
constexpr std::uint64_t kShortest = 1'000;
constexpr std::uint64_t kLongestPeriodUsec = kUsecPerSec;

enum class Kind : std::uint8_t { amount, bandwidth, quota, period, mask };

/// Value: a file and the property that stands for it.
struct Known {
  std::string_view file, property;
  Kind kind;
};

constexpr std::array<Known, 10> kKnown = {{
    {"memory.max", "MemoryMax", Kind::amount},
    {"memory.limit_in_bytes", "MemoryLimit", Kind::amount},
    {"pids.max", "TasksMax", Kind::amount},
    {"cpu.weight", "CPUWeight", Kind::amount},
    {"cpu.shares", "CPUShares", Kind::amount},
    {"cpu.max", "CPUQuotaPerSecUSec", Kind::bandwidth},
    {"cpu.cfs_quota_us", "CPUQuotaPerSecUSec", Kind::quota},
    {"cpu.cfs_period_us", "CPUQuotaPeriodUSec", Kind::period},
    {"cpuset.cpus", "AllowedCPUs", Kind::mask},
    {"cpuset.mems", "AllowedMemoryNodes", Kind::mask},
}};

const Known* find(std::string_view file) {
  const auto* it =
      std::find_if(kKnown.begin(), kKnown.end(), [&](const Known& k) { return k.file == file; });
  return it == kKnown.end() ? nullptr : it;
}

using Properties = std::vector<UnitProperty>;

Result<Properties> amount(const Known& known, const std::string& text) {
  if (text == "max" || text == "-1") return Properties{{std::string(known.property), kInfinity}};
  const auto value = parse_u64(text);
  if (!value) return fail(EINVAL, "neither a number nor unlimited");
  return Properties{{std::string(known.property), *value}};
}

/// v1 keeps the period in a file of its own; what is asked for is always the same one.
Result<CpuBandwidth> bandwidth_of(const Known& known, const std::string& text) {
  if (known.kind == Kind::quota) return parse_cfs(text, std::to_string(kPeriodUs));
  if (known.kind == Kind::period) return parse_cfs("-1", text);
  return parse_cpu_max(text);
}

/// Microseconds of CPU per second, whole per cents.
std::uint64_t per_second(const CpuBandwidth& wanted) {
  if (!wanted.quota || *wanted.quota > kInfinity / kUsecPerSec - wanted.period) return kInfinity;
  const auto rate = (*wanted.quota * kUsecPerSec + wanted.period - 1) / wanted.period;
  return std::max<std::uint64_t>((rate + kPerCent - 1) / kPerCent, 1) * kPerCent;
}

Result<Properties> bandwidth(const Known& known, const std::string& text) {
  const auto wanted = bandwidth_of(known, text);
  if (!wanted) return fail(EINVAL, "{}", wanted.error().text);
  const UnitProperty period{"CPUQuotaPeriodUSec", wanted->period};
  if (known.kind == Kind::period) return Properties{period};
  return Properties{{std::string(known.property), per_second(*wanted)}, period};
}

/// What systemd makes of its two numbers when it writes the file: a period long enough for the
/// kernel, and its share of the quota.
CpuBandwidth as_written(const CpuBandwidth& wanted) {
  const auto rate = per_second(wanted);
  if (rate == kInfinity)
    return {std::nullopt, std::clamp(wanted.period, kShortest, kLongestPeriodUsec)};
  const auto period = std::min(std::max({wanted.period, kShortest, kShortest * kUsecPerSec / rate}),
                               kLongestPeriodUsec);
  return {std::max(rate / kPerCent * period / 100, kShortest), period};
}

Result<Properties> mask(const Known& known, const std::string& text) {
  const auto set = CpuSet::parse(text);
  if (!set) return fail(EINVAL, "{}", set.error().text);
  std::vector<std::uint8_t> bytes;
  for (const auto& range : set->ranges()) {
    bytes.resize(range.last / 8 + 1);
    for (auto bit = range.first; bit <= range.last; ++bit)
      bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] | 1U << bit % 8);
  }
  return Properties{{std::string(known.property), std::move(bytes)}};
}

Result<Properties> properties_of(const WantedFile& file) {
  const auto* known = find(file.key);
  if (known == nullptr)
    return fail(EOPNOTSUPP, "systemd has no property for {}={}", file.key, file.value);
  const auto made = known->kind == Kind::amount ? amount(*known, file.value)
                    : known->kind == Kind::mask ? mask(*known, file.value)
                                                : bandwidth(*known, file.value);
  if (!made) return forward(made.error(), fmt::format("{}={}", file.key, file.value));
  return made;
}

}  // namespace

Result<std::vector<UnitProperty>> unit_properties(const std::vector<WantedFile>& files) {
  Properties all;
  for (const auto& file : files) {
    auto properties = properties_of(file);
    if (!properties) return forward(properties.error());
    for (auto& property : *properties) {
      // v1 says the period with the quota and once more for itself: the latter one counts.
      const auto same = std::find_if(all.begin(), all.end(), [&](const UnitProperty& other) {
        return other.name == property.name;
      });
      if (same == all.end())
        all.push_back(std::move(property));
      else
        same->value = std::move(property.value);
    }
  }
  return all;
}

bool as_systemd_writes(const WantedFile& wanted, const std::string& now) {
  if (wanted.value == now) return true;
  const auto* known = find(wanted.key);
  if (known == nullptr) return false;
  if (known->kind == Kind::mask) {
    const auto have = CpuSet::parse(now);
    const auto want = CpuSet::parse(wanted.value);
    return have && want && *have == *want;
  }
  if (known->kind == Kind::amount) return false;
  const auto bandwidth = bandwidth_of(*known, wanted.value);
  if (!bandwidth) return false;
  const auto written = as_written(*bandwidth);
  if (known->kind == Kind::period) return now == std::to_string(written.period);
  return now ==
         (known->kind == Kind::quota ? cfs_quota_text(written.quota) : cpu_max_text(written));
}

}  // namespace kcg
