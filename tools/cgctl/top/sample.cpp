// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/top/sample.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "kernel/keyed.hpp"
#include "tools/cgctl/failure.hpp"
#include "tools/cgctl/resolve.hpp"

namespace kcg::cgctl::top {

namespace {

using Number = std::optional<std::uint64_t>;

constexpr std::uint64_t kNsPerUsec = 1000;

/// Reads one group in whichever hierarchy has the file.
class Reader final {
 public:
  Reader(const CgroupTree& tree, const GroupView& group)
      : tree_(tree), group_(group), path_(CgroupPath::parse(group.path)) {}

  [[nodiscard]] std::optional<std::string> text(const char* file) const {
    if (!path_) return std::nullopt;
    for (const auto& hierarchy : group_.hierarchies)
      if (auto found = tree_.read({hierarchy, *path_}, file)) return *std::move(found);
    return std::nullopt;
  }
  [[nodiscard]] Number number(const char* file) const {
    const auto found = text(file);
    return found ? parse_u64(trim(*found)) : std::nullopt;
  }
  [[nodiscard]] Number keyed(const char* file, const char* key) const {
    const auto found = text(file);
    const auto value = found ? keyed_value(*found, key) : Result<std::uint64_t>(fail(0, "none"));
    return value ? Number(*value) : std::nullopt;
  }

 private:
  const CgroupTree& tree_;
  const GroupView& group_;
  Result<CgroupPath> path_;
};

Number cpu_usec(const Reader& group, bool unified) {
  if (unified) return group.keyed("cpu.stat", "usage_usec");
  const auto nanoseconds = group.number("cpuacct.usage");
  return nanoseconds ? Number(*nanoseconds / kNsPerUsec) : std::nullopt;
}

Number throttled_usec(const Reader& group, bool unified) {
  if (unified) return group.keyed("cpu.stat", "throttled_usec");
  const auto nanoseconds = group.keyed("cpu.stat", "throttled_time");
  return nanoseconds ? Number(*nanoseconds / kNsPerUsec) : std::nullopt;
}

/// "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234": the total, microseconds.
Number stall_usec(const Reader& group, const char* file) {
  const auto text = group.text(file);
  if (!text) return std::nullopt;
  constexpr std::string_view kTotal = "total=";
  for (const auto line : lines(*text)) {
    if (!line.starts_with("some ")) continue;
    for (const auto word : words(line))
      if (word.starts_with(kTotal)) return parse_u64(word.substr(kTotal.size()));
  }
  return std::nullopt;
}

void add(Number& sum, const Number& part) {
  if (part) sum = sum.value_or(0) + *part;
}

}  // namespace

Usage usage_of(const CgroupTree& tree, const SandboxView& view) {
  const bool unified = tree.host().unified();
  Usage usage;
  usage.title = title(view);
  usage.memory_limit = view.memory_limit;
  usage.memory_used = view.memory_used;
  for (const auto& group : view.groups) {
    if (!group.exists) continue;
    const Reader reader(tree, group);
    if (const auto cls = class_of(group.role))
      usage.class_usec.at(static_cast<std::size_t>(*cls)) = cpu_usec(reader, unified);
    add(usage.throttled_usec, throttled_usec(reader, unified));
    if (group.path != view.sandbox_cgroup) continue;
    usage.cpu_usec = cpu_usec(reader, unified);
    const auto used = reader.number(unified ? "memory.current" : "memory.usage_in_bytes");
    if (used) usage.memory_used = used;
    usage.memory_stall_usec = stall_usec(reader, "memory.pressure");
    usage.cpu_stall_usec = stall_usec(reader, "cpu.pressure");
  }
  return usage;
}

Result<Sample> take_sample(const CgroupTree& tree, Source& source,
                           std::map<std::string, SandboxView>& known) {
  const auto views = source.list(false);
  if (!views) return forward(views.error());
  std::map<std::string, SandboxView> now;
  for (const auto& view : *views) {
    const auto old = known.find(view.id);
    if (old != known.end() && old->second.state == view.state) {
      auto kept = std::move(old->second);
      kept.memory_used = view.memory_used;
      kept.memory_limit = view.memory_limit;
      now[view.id] = std::move(kept);
      continue;
    }
    auto whole = source.view(view.id);
    if (whole)
      now[view.id] = *std::move(whole);
    else if (failure_exit(whole.error()) != Exit::no_such_sandbox)
      return forward(whole.error());
  }
  known = std::move(now);
  Sample sample;
  sample.at = SystemClock().now();
  for (const auto& [id, view] : known) sample.sandboxes[id] = usage_of(tree, view);
  return sample;
}

}  // namespace kcg::cgctl::top
