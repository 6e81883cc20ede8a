// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/limits.hpp"

#include "base/text.hpp"
#include "kernel/limit_text.hpp"
#include "tools/cgctl/text.hpp"

namespace kcg::cgctl {

namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr const char* kNoLimit = "no limit";

std::string memory_limit(const std::string& value) {
  const auto bytes = parse_u64(value);
  return bytes && *bytes < kUnlimitedMemory ? "at most " + size_text(*bytes) : kNoLimit;
}

std::string quota_text(std::uint64_t quota, std::uint64_t period) {
  return "at most " + cpus_text(period == 0 ? 0 : quota * 1000 / period);
}

/// "50000 100000", "max 100000".
std::string cpu_max(const std::string& value) {
  const auto parts = words(value);
  const auto quota = parts.empty() ? std::nullopt : parse_u64(parts.front());
  const auto period =
      parts.size() > 1 ? parse_u64(parts[1]) : std::optional<std::uint64_t>(100'000);
  return quota && period ? quota_text(*quota, *period) : kNoLimit;
}

/// v1 has the quota and its period in two files.
std::string cfs_quota(const std::map<std::string, std::string>& limits, const std::string& quota) {
  const auto period = limits.find("cpu.cfs_period_us");
  const auto number = parse_u64(quota);
  if (!number) return kNoLimit;
  const auto length = period == limits.end() ? std::nullopt : parse_u64(period->second);
  return quota_text(*number, length.value_or(100'000));
}

/// Sum of what the running containers were promised; nullopt: one has no limit.
std::optional<std::uint64_t> promised(const SandboxView& view) {
  std::uint64_t sum = 0;
  for (const auto& one : view.containers) {
    if (one.stopped) continue;
    if (one.resources.memory_limit.value_or(0) <= 0) return std::nullopt;
    sum += static_cast<std::uint64_t>(*one.resources.memory_limit);
  }
  return sum;
}

}  // namespace

std::optional<std::string> limit_text(const std::string& key, const std::string& value) {
  if (key == "memory.max" || key == "memory.limit_in_bytes") return memory_limit(value);
  if (key == "cpu.max") return cpu_max(value);
  if (key == "cpu.cfs_quota_us") return cfs_quota({}, value);
  if (key == "cpu.weight") return "weight " + value;
  if (key == "cpu.shares") return "shares " + value;
  if (key == "cpuset.cpus") return value.empty() ? "all CPUs of the group above" : "CPUs " + value;
  if (key == "cpuset.mems")
    return value.empty() ? "all nodes of the group above" : "nodes " + value;
  return std::nullopt;
}

std::vector<std::string> limit_texts(const std::map<std::string, std::string>& limits) {
  std::vector<std::string> out;
  for (const auto& [key, value] : limits) {
    if (key.starts_with("memory.") || key == "cpu.cfs_period_us" || value.empty()) continue;
    auto text = key == "cpu.cfs_quota_us" ? cfs_quota(limits, value) : limit_text(key, value);
    if (!text && value != "max") text = key + " " + value;
    if (text && *text != kNoLimit) out.push_back(*std::move(text));
  }
  return out;
}

std::string ceiling_text(const std::map<std::string, std::string>& limits) {
  constexpr std::string_view kAtMost = "at most ";
  std::vector<std::string> parts;
  bool known = false;
  for (const auto* key : {"memory.max", "memory.limit_in_bytes", "cpu.max", "cpu.cfs_quota_us"}) {
    const auto it = limits.find(key);
    if (it == limits.end()) continue;
    known = true;
    const bool quota = it->first == "cpu.cfs_quota_us";
    const auto text = quota ? cfs_quota(limits, it->second) : limit_text(key, it->second);
    if (text && text->starts_with(kAtMost)) parts.push_back(text->substr(kAtMost.size()));
  }
  if (!parts.empty()) return std::string(kAtMost) + join(parts, ", ");
  return known ? kNoLimit : "";
}

std::string memory_text(const std::optional<std::uint64_t>& used,
                        const std::optional<std::uint64_t>& limit) {
  if (used && limit) return sizes_text(*used, *limit, " of ");
  if (limit) return "at most " + size_text(*limit);
  return used ? size_text(*used) + ", no limit" : "";
}

std::string memory_sum_text(const SandboxView& view) {
  const auto containers = promised(view);
  const auto overhead = view.overhead.memory_bytes;
  if (!view.memory_limit || !containers || *containers + overhead != *view.memory_limit) return "";
  if (*view.memory_limit < 1024 * kMiB)
    return fmt::format(" = {} containers + {} overhead", *containers / kMiB, overhead / kMiB);
  return fmt::format(" = {} containers + {} overhead", size_text(*containers), size_text(overhead));
}

std::string raw_text(const std::map<std::string, std::string>& limits) {
  std::string out;
  for (const auto& [key, value] : limits)
    out += fmt::format("{}{}={}", out.empty() ? "" : "  ", key, value);
  return out;
}

}  // namespace kcg::cgctl
