// SPDX-License-Identifier: Apache-2.0
#include "observe/counters.hpp"

#include <string>
#include <string_view>

#include "base/text.hpp"
#include "kernel/keyed.hpp"
#include "kernel/pressure.hpp"

namespace kcg {

namespace {

using Number = std::optional<std::uint64_t>;

constexpr std::uint64_t kNsPerUsec = 1000;

/// Reads one group, each file in the hierarchy of its controller.
class Reader final {
 public:
  Reader(const CgroupTree& tree, const GroupView& group)
      : tree_(tree), group_(group), path_(CgroupPath::parse(group.path)) {}

  [[nodiscard]] std::optional<std::string> text(std::string_view file) const {
    if (!path_) return std::nullopt;
    const auto controller = file.substr(0, file.find('.'));
    for (const auto& name : group_.hierarchies) {
      const auto* hierarchy = tree_.host().find(name);
      if (hierarchy == nullptr || !(hierarchy->unified || hierarchy->has(controller))) continue;
      if (auto found = tree_.read({name, *path_}, std::string(file))) return *std::move(found);
    }
    return std::nullopt;
  }
  [[nodiscard]] Number number(const char* file) const {
    const auto found = text(file);
    return found ? parse_u64(trim(*found)) : std::nullopt;
  }

 private:
  const CgroupTree& tree_;
  const GroupView& group_;
  Result<CgroupPath> path_;
};

Number keyed(const std::optional<std::string>& text, const char* key) {
  if (!text) return std::nullopt;
  const auto value = keyed_value(*text, key);
  return value ? Number(*value) : std::nullopt;
}

Number microseconds(const Number& nanoseconds) {
  return nanoseconds ? Number(*nanoseconds / kNsPerUsec) : std::nullopt;
}

/// `stat`: cpu.stat, which v2 counts in.
Number usage_of(const Reader& group, bool unified, const std::optional<std::string>& stat) {
  return unified ? keyed(stat, "usage_usec") : microseconds(group.number("cpuacct.usage"));
}

CpuCounters cpu_of(const Reader& group, bool unified) {
  const auto stat = group.text("cpu.stat");
  CpuCounters cpu;
  cpu.throttled_periods = keyed(stat, "nr_throttled");
  cpu.usage_usec = usage_of(group, unified, stat);
  cpu.throttled_usec =
      unified ? keyed(stat, "throttled_usec") : microseconds(keyed(stat, "throttled_time"));
  return cpu;
}

StallCounters stall_of(const Reader& group, const char* file) {
  const auto text = group.text(file);
  const auto pressure = text ? parse_pressure(*text) : Result<Pressure>(fail(0, "none"));
  if (!pressure) return {};
  return {pressure->total_usec, pressure->average_10s};
}

void add(Number& sum, const Number& part) {
  if (part) sum = sum.value_or(0) + *part;
}

}  // namespace

GroupCounters group_counters(const CgroupTree& tree, const SandboxView& view) {
  const bool unified = tree.host().unified();
  GroupCounters counters;
  for (const auto& group : view.groups) {
    if (!group.exists) continue;
    const Reader reader(tree, group);
    const auto cpu = cpu_of(reader, unified);
    // A group of v1 does not count what is killed below it.
    if (!unified) add(counters.oom_kills, keyed(reader.text("memory.oom_control"), "oom_kill"));
    add(counters.throttled_usec, cpu.throttled_usec);
    if (const auto cls = class_of(group.role))
      counters.by_class.at(static_cast<std::size_t>(*cls)) = cpu;
    if (group.path != view.sandbox_cgroup) continue;
    counters.cpu_usec = cpu.usage_usec;
    counters.memory_used = reader.number(unified ? "memory.current" : "memory.usage_in_bytes");
    if (!unified) continue;  // v1 has no pressure of groups
    counters.oom_kills = keyed(reader.text("memory.events"), "oom_kill");
    counters.memory = stall_of(reader, "memory.pressure");
    counters.cpu = stall_of(reader, "cpu.pressure");
    counters.io = stall_of(reader, "io.pressure");
  }
  return counters;
}

Number cpu_usage(const CgroupTree& tree, const SandboxView& view) {
  const bool unified = tree.host().unified();
  for (const auto& group : view.groups) {
    if (!group.exists || group.path != view.sandbox_cgroup) continue;
    const Reader reader(tree, group);
    return usage_of(reader, unified, unified ? reader.text("cpu.stat") : std::nullopt);
  }
  return std::nullopt;
}

}  // namespace kcg
