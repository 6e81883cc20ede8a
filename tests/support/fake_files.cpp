// SPDX-License-Identifier: Apache-2.0
#include "support/fake_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>

#include "base/text.hpp"
#include "support/fake_cpuset.hpp"

namespace kcg::test {

namespace {

using Writer = int (*)(FakeGroup&, const Host&, const std::string& file, std::string_view text);

constexpr std::uint64_t kMaxPids = 4'194'304;

std::string value_of(const FakeGroup& group, const std::string& file);

std::uint64_t unlimited_bytes(const Host& host) {
  const std::uint64_t largest = std::numeric_limits<std::int64_t>::max();
  return largest / host.page_size * host.page_size;
}

// --- memory ---

/// Rounds down to pages, as the kernel does; nullopt: not a number of bytes.
std::optional<std::uint64_t> parse_bytes(std::string_view text, std::string_view none,
                                         const Host& host) {
  if (trim(text) == none) return unlimited_bytes(host);
  const auto bytes = parse_u64(trim(text));
  if (!bytes) return std::nullopt;
  return std::min(*bytes / host.page_size * host.page_size, unlimited_bytes(host));
}

int write_memory_v2(FakeGroup& group, const Host& host, const std::string& file,
                    std::string_view text) {
  const auto bytes = parse_bytes(text, "max", host);
  if (!bytes) return EINVAL;
  group.values[file] = *bytes == unlimited_bytes(host) ? "max" : fmt::format("{}", *bytes);
  return 0;
}

int write_memory_v1(FakeGroup& group, const Host& host, const std::string& file,
                    std::string_view text) {
  const auto bytes = parse_bytes(text, "-1", host);
  if (!bytes || group.parent == nullptr) return EINVAL;
  const bool swap = file == "memory.memsw.limit_in_bytes";
  const auto other =
      parse_u64(value_of(group, swap ? "memory.limit_in_bytes" : "memory.memsw.limit_in_bytes"));
  if (swap ? *bytes < other : *bytes > other) return EINVAL;
  const auto usage =
      parse_u64(value_of(group, swap ? "memory.memsw.usage_in_bytes" : "memory.usage_in_bytes"));
  if (*bytes < usage) return EBUSY;
  group.values[file] = fmt::format("{}", *bytes);
  return 0;
}

// --- cpu ---

constexpr std::int64_t kLargestQuota = 1'000'000'000'000;  // beyond any that a test means

bool bad_period(std::uint64_t usec) { return usec < 1000 || usec > 1'000'000; }

/// The kernel's fixed-point ratio of a group's quota; -1: unlimited.
std::int64_t quota_ratio(const FakeGroup& group) {
  const auto quota = parse_i64(value_of(group, "cpu.cfs_quota_us")).value_or(-1);
  const auto period = parse_i64(value_of(group, "cpu.cfs_period_us")).value_or(100'000);
  return quota < 0 ? -1 : (quota << 20) / period;
}

/// v1: no child may be promised a larger ratio than its nearest limited ancestor.
bool quotas_fit(const FakeGroup& group, std::int64_t above) {
  const auto own = quota_ratio(group);
  if (own >= 0 && above >= 0 && own > above) return false;
  return std::all_of(group.children.begin(), group.children.end(), [&](const auto& child) {
    return quotas_fit(*child.second, own < 0 ? above : own);
  });
}

int keep_if_quotas_fit(FakeGroup& group, const std::string& file, std::string value) {
  const std::string before = value_of(group, file);
  group.values[file] = std::move(value);
  const FakeGroup* root = &group;
  while (root->parent != nullptr) root = root->parent;
  if (quotas_fit(*root, -1)) return 0;
  group.values[file] = before;
  return EINVAL;
}

int write_quota_v1(FakeGroup& group, const Host&, const std::string& file, std::string_view text) {
  const auto usec = parse_i64(text);
  if (!usec || group.parent == nullptr) return EINVAL;
  if (*usec >= 0 && (*usec < 1000 || *usec > kLargestQuota)) return EINVAL;
  return keep_if_quotas_fit(group, file, *usec < 0 ? "-1" : fmt::format("{}", *usec));
}

int write_period_v1(FakeGroup& group, const Host&, const std::string& file, std::string_view text) {
  const auto usec = parse_u64(text);
  if (!usec || group.parent == nullptr || bad_period(*usec)) return EINVAL;
  return keep_if_quotas_fit(group, file, fmt::format("{}", *usec));
}

int write_shares_v1(FakeGroup& group, const Host&, const std::string& file, std::string_view text) {
  const auto shares = parse_u64(text);
  if (!shares || group.parent == nullptr) return EINVAL;
  group.values[file] = fmt::format("{}", std::clamp<std::uint64_t>(*shares, 2, 262'144));
  return 0;
}

int write_cpu_max(FakeGroup& group, const Host&, const std::string& file, std::string_view text) {
  const auto given = words(text);
  const auto before = value_of(group, file);
  if (given.empty()) return EINVAL;
  const auto period = parse_u64(given.size() > 1 ? given[1] : words(before)[1]);
  if (!period || bad_period(*period)) return EINVAL;
  const auto quota = parse_u64(given[0]);
  if (given[0] != "max" && (!quota || *quota < 1000)) return EINVAL;
  group.values[file] = fmt::format("{} {}", given[0], *period);
  return 0;
}

int write_cpu_weight(FakeGroup& group, const Host&, const std::string& file,
                     std::string_view text) {
  const auto weight = parse_u64(text);
  if (!weight) return EINVAL;
  if (*weight < 1 || *weight > 10'000) return ERANGE;
  group.values[file] = fmt::format("{}", *weight);
  return 0;
}

// --- the rest ---

int write_pids_max(FakeGroup& group, const Host&, const std::string& file, std::string_view text) {
  const auto limit = trim(text);
  const auto count = parse_u64(limit);
  if (limit != "max" && (!count || *count > kMaxPids)) return EINVAL;
  group.values[file] = std::string(limit);
  return 0;
}

int write_count_or_max(FakeGroup& group, const Host&, const std::string& file,
                       std::string_view text) {
  if (text != "max" && !parse_u64(text)) return EINVAL;
  group.values[file] = std::string(text);
  return 0;
}

int write_flag(FakeGroup& group, const Host&, const std::string& file, std::string_view text) {
  if (text != "0" && text != "1") return EINVAL;
  group.values[file] = std::string(text);
  return 0;
}

int write_type(FakeGroup& group, const Host&, const std::string&, std::string_view text) {
  return trim(text) == "threaded" ? make_threaded(group) : EINVAL;
}

int write_subtree(FakeGroup& group, const Host&, const std::string&, std::string_view text) {
  return write_subtree_control(group, text);
}

/// Value: one kind of control file.
struct Kind {
  std::string_view controller;  ///< "" = every group of that version
  bool unified;
  std::string_view file;
  bool on_root;
  std::string_view initial;
  Writer write;  ///< null: read-only
};

constexpr std::array kKinds = {
    Kind{"", false, "notify_on_release", true, "0", write_flag},
    Kind{"", false, "cgroup.clone_children", true, "0", write_flag},
    Kind{"", true, "cgroup.controllers", true, "", nullptr},
    Kind{"", true, "cgroup.subtree_control", true, "", write_subtree},
    Kind{"", true, "cgroup.type", false, "", write_type},
    Kind{"", true, "cgroup.events", false, "", nullptr},
    Kind{"", true, "cgroup.max.descendants", true, "max", write_count_or_max},
    Kind{"", true, "cgroup.max.depth", true, "max", write_count_or_max},
    Kind{"", true, "cpu.stat", true, "usage_usec 0\nuser_usec 0\nsystem_usec 0", nullptr},
    Kind{"cpu", true, "cpu.max", false, "max 100000", write_cpu_max},
    Kind{"cpu", true, "cpu.weight", false, "100", write_cpu_weight},
    Kind{"cpuset", true, "cpuset.cpus", false, "", write_cpus},
    Kind{"cpuset", true, "cpuset.mems", false, "", write_cpus},
    Kind{"cpuset", true, "cpuset.cpus.effective", true, "", nullptr},
    Kind{"cpuset", true, "cpuset.mems.effective", true, "", nullptr},
    Kind{"memory", true, "memory.max", false, "max", write_memory_v2},
    Kind{"memory", true, "memory.high", false, "max", write_memory_v2},
    Kind{"memory", true, "memory.low", false, "0", write_memory_v2},
    Kind{"memory", true, "memory.min", false, "0", write_memory_v2},
    Kind{"memory", true, "memory.swap.max", false, "max", write_memory_v2},
    Kind{"memory", true, "memory.oom.group", false, "0", write_flag},
    Kind{"memory", true, "memory.current", false, "0", nullptr},
    Kind{"memory", true, "memory.peak", false, "0", nullptr},
    Kind{"memory", true, "memory.stat", true, "anon 0\nfile 0\nkernel 0\nshmem 0", nullptr},
    Kind{"memory", true, "memory.events", false,
         "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\noom_group_kill 0", nullptr},
    Kind{"io", true, "io.stat", true, "", nullptr},
    Kind{"pids", true, "pids.max", false, "max", write_pids_max},
    Kind{"pids", true, "pids.current", false, "", nullptr},
    Kind{"cpu", false, "cpu.shares", true, "1024", write_shares_v1},
    Kind{"cpu", false, "cpu.cfs_quota_us", true, "-1", write_quota_v1},
    Kind{"cpu", false, "cpu.cfs_period_us", true, "100000", write_period_v1},
    Kind{"cpu", false, "cpu.stat", true, "nr_periods 0\nnr_throttled 0\nthrottled_time 0", nullptr},
    Kind{"cpuacct", false, "cpuacct.usage", true, "0", nullptr},
    Kind{"cpuset", false, "cpuset.cpus", true, "", write_cpus},
    Kind{"cpuset", false, "cpuset.mems", true, "", write_cpus},
    Kind{"cpuset", false, "cpuset.effective_cpus", true, "", nullptr},
    Kind{"cpuset", false, "cpuset.effective_mems", true, "", nullptr},
    Kind{"memory", false, "memory.limit_in_bytes", true, "", write_memory_v1},
    Kind{"memory", false, "memory.memsw.limit_in_bytes", true, "", write_memory_v1},
    Kind{"memory", false, "memory.usage_in_bytes", true, "0", nullptr},
    Kind{"memory", false, "memory.memsw.usage_in_bytes", true, "0", nullptr},
    Kind{"memory", false, "memory.max_usage_in_bytes", true, "0", nullptr},
    Kind{"memory", false, "memory.stat", true,
         "rss 0\nshmem 0\ntotal_rss 0\ntotal_shmem 0\ntotal_inactive_file 0\ntotal_active_file 0",
         nullptr},
    Kind{"memory", false, "memory.oom_control", true, "oom_kill_disable 0\nunder_oom 0\noom_kill 0",
         nullptr},
    Kind{"pids", false, "pids.max", false, "max", write_pids_max},
    Kind{"pids", false, "pids.current", false, "", nullptr},
};

const Kind* kind_of(const FakeGroup& group, std::string_view file) {
  const auto controllers = controllers_of(group);
  for (const auto& kind : kKinds) {
    if (kind.file != file || kind.unified != group.hierarchy->unified) continue;
    if (group.parent == nullptr && !kind.on_root) continue;
    if (kind.controller.empty() || controllers.contains(std::string(kind.controller))) return &kind;
  }
  return nullptr;
}

std::string value_of(const FakeGroup& group, const std::string& file) {
  const auto it = group.values.find(file);
  if (it != group.values.end()) return it->second;
  const Kind* kind = kind_of(group, file);
  return kind == nullptr ? "" : std::string(kind->initial);
}

/// As the root's cgroup.controllers lists them.
std::string in_kernel_order(const FakeGroup& group, const std::set<std::string>& controllers) {
  std::string text;
  for (const auto& name : group.hierarchy->controllers)
    if (controllers.contains(name)) text += (text.empty() ? "" : " ") + name;
  return text;
}

std::size_t count_tasks(const FakeGroup& group) {
  std::size_t count = group.tasks.size();
  for (const auto& [name, child] : group.children) count += count_tasks(*child);
  return count;
}

}  // namespace

std::optional<std::string> read_file(const FakeGroup& group, const Host& host,
                                     const std::string& file) {
  if (kind_of(group, file) == nullptr) return std::nullopt;
  if (file == "cgroup.controllers") return in_kernel_order(group, controllers_of(group));
  if (file == "cgroup.subtree_control") return in_kernel_order(group, group.subtree);
  if (file == "cgroup.type") return std::string(type_of(group));
  if (file == "cgroup.events")
    return fmt::format("populated {}\nfrozen 0", populated(group) ? 1 : 0);
  if (file == "pids.current") return fmt::format("{}", count_tasks(group));
  if (auto cpus = read_cpus(group, host, file)) return cpus;
  return value_of(group, file);
}

int write_file(FakeGroup& group, const Host& host, const std::string& file, std::string_view text) {
  const Kind* kind = kind_of(group, file);
  if (kind == nullptr) return ENOENT;
  if (kind->write == nullptr) return EINVAL;
  return kind->write(group, host, file,
                     text.ends_with('\n') ? text.substr(0, text.size() - 1) : text);
}

void set_initial_values(FakeGroup& group, const Host& host) {
  if (group.hierarchy->unified || !group.hierarchy->has("memory")) return;
  for (const char* file : {"memory.limit_in_bytes", "memory.memsw.limit_in_bytes"})
    group.values[file] = fmt::format("{}", unlimited_bytes(host));
}

}  // namespace kcg::test
