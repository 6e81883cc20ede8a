// SPDX-License-Identifier: Apache-2.0
#include "kernel/proc_cgroup.hpp"
#include "require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kcg;
  const Host host{HierarchyMode::hybrid,
                  {{"cpu,cpuacct", {"cpu", "cpuacct"}, false, ""},
                   {"cpuset", {"cpuset"}, false, ""},
                   {"v2", {}, true, ""}}};
  const auto text = text_of(data, size);
  const auto entries = parse_proc_cgroup(text);
  const auto groups = groups_for(host, text);
  require(entries.has_value() == groups.has_value(), "both read the same lines");
  if (!entries) {
    require_good_text(entries.error());
    return 0;
  }
  require(groups->size() == host.hierarchies.size(), "one path per hierarchy");
  for (const auto& group : *groups)
    require(group.empty() || group.front() == '/', "a path, or unknown");
  for (const auto& entry : *entries) {
    require(!entry.deleted || entry.unified, "only cgroup2 marks removed groups");
    if (entry.unified) require(!groups->at(2).empty(), "cgroup2's line is found");
  }
  return 0;
}
