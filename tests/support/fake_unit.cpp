// SPDX-License-Identifier: Apache-2.0
#include "support/fake_unit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <set>

namespace kcg::test {

namespace {

constexpr std::uint64_t kInfinity = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kSecond = 1'000'000;
constexpr std::uint64_t kMillisecond = 1'000;
constexpr std::uint64_t kUsualPeriod = 100'000;

const std::set<std::string>& numbers() {
  static const std::set<std::string> kNumbers = {
      "MemoryMax", "MemoryLimit",        "TasksMax",          "CPUWeight",
      "CPUShares", "CPUQuotaPerSecUSec", "CPUQuotaPeriodUSec"};
  return kNumbers;
}

const std::set<std::string>& masks() {
  static const std::set<std::string> kMasks = {"AllowedCPUs", "AllowedMemoryNodes"};
  return kMasks;
}

}  // namespace

Status FakeUnit::set(const std::vector<UnitProperty>& properties) {
  std::set<std::string> names;
  for (const auto& property : properties) {
    const bool mask = std::holds_alternative<std::vector<std::uint8_t>>(property.value);
    if (!(mask ? masks() : numbers()).contains(property.name))
      return fail(EINVAL, "Cannot set property {}, or unknown property", property.name);
    if (!names.insert(property.name).second)
      return fail(EINVAL, "{} is set twice at once", property.name);
  }
  for (const auto& property : properties) values_[property.name] = property.value;
  return {};
}

const std::uint64_t* FakeUnit::number(const char* name) const {
  const auto it = values_.find(name);
  return it == values_.end() ? nullptr : std::get_if<std::uint64_t>(&it->second);
}

void FakeUnit::add_number(std::vector<WantedFile>& to, const char* file, const char* property,
                          const char* unlimited) const {
  const auto* value = number(property);
  if (value != nullptr)
    to.push_back({file, *value == kInfinity ? unlimited : std::to_string(*value)});
}

void FakeUnit::add_mask(std::vector<WantedFile>& to, const char* file, const char* property) const {
  const auto it = values_.find(property);
  if (it == values_.end()) return;
  const auto& bytes = std::get<std::vector<std::uint8_t>>(it->second);
  std::string list;
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit)
    if ((bytes[bit / 8] >> bit % 8 & 1) != 0)
      list += fmt::format("{}{}", list.empty() ? "" : ",", bit);
  to.push_back({file, list});
}

/// A period that the kernel takes together with its share of the quota; v1 has two files for it.
void FakeUnit::add_quota(std::vector<WantedFile>& to, bool unified) const {
  const auto* rate = number("CPUQuotaPerSecUSec");
  const auto* asked = number("CPUQuotaPeriodUSec");
  if (rate == nullptr && asked == nullptr) return;
  const bool limited = rate != nullptr && *rate != kInfinity;
  auto period = asked == nullptr || *asked == kInfinity ? kUsualPeriod : *asked;
  // What systemd keeps over a daemon-reload.
  const auto kept = limited ? *rate / (kSecond / 100) * (kSecond / 100) : kInfinity;
  if (limited) period = std::max(period, kMillisecond * kSecond / std::max<std::uint64_t>(kept, 1));
  period = std::clamp(period, kMillisecond, kSecond);
  const auto quota = std::max(kept / (kSecond / 100) * period / 100, kMillisecond);
  if (unified) {
    to.push_back(
        {"cpu.max", fmt::format("{} {}", limited ? std::to_string(quota) : "max", period)});
    return;
  }
  to.push_back({"cpu.cfs_period_us", std::to_string(period)});
  to.push_back({"cpu.cfs_quota_us", limited ? std::to_string(quota) : "-1"});
}

std::vector<WantedFile> FakeUnit::files(const Hierarchy& h) const {
  std::vector<WantedFile> found;
  if (h.has("memory") && h.unified) add_number(found, "memory.max", "MemoryMax", "max");
  if (h.has("memory") && !h.unified)
    add_number(found, "memory.limit_in_bytes", "MemoryLimit", "-1");
  if (h.has("pids")) add_number(found, "pids.max", "TasksMax", "max");
  if (h.has("cpu")) {
    add_number(found, h.unified ? "cpu.weight" : "cpu.shares",
               h.unified ? "CPUWeight" : "CPUShares", "");
    add_quota(found, h.unified);
  }
  if (h.has("cpuset") && h.unified) {
    add_mask(found, "cpuset.cpus", "AllowedCPUs");
    add_mask(found, "cpuset.mems", "AllowedMemoryNodes");
  }
  return found;
}

}  // namespace kcg::test
