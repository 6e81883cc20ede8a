// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/top/sample.hpp"

#include <cstddef>

#include "observe/counters.hpp"
#include "tools/cgctl/failure.hpp"
#include "tools/cgctl/resolve.hpp"

namespace kcg::cgctl::top {

Usage usage_of(const CgroupTree& tree, const SandboxView& view) {
  Usage usage;
  usage.title = title(view);
  usage.memory_limit = view.memory_limit;
  usage.memory_used = view.memory_used;
  usage.overhead_used = view.overhead_used;
  usage.overhead_declared = view.overhead.memory_bytes;
  const auto counters = group_counters(tree, view);
  usage.cpu_usec = counters.cpu_usec;
  for (std::size_t i = 0; i < usage.class_usec.size(); ++i)
    usage.class_usec[i] = counters.by_class[i].usage_usec;
  usage.throttled_usec = counters.throttled_usec;
  if (counters.memory_used) usage.memory_used = counters.memory_used;
  usage.memory_stall_usec = counters.memory.total_usec;
  usage.cpu_stall_usec = counters.cpu.total_usec;
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
      kept.overhead_used = view.overhead_used;
      kept.overhead = view.overhead;
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
