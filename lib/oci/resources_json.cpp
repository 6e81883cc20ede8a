// SPDX-License-Identifier: Apache-2.0
#include "oci/resources_json.hpp"

namespace kcg {

Resources read_resources(const JsonView& resources) {
  const auto cpu = resources.object("cpu");
  Resources found;
  found.memory_limit = resources.object("memory").i64("limit");
  found.cpu_quota = cpu.i64("quota");
  found.cpu_period = cpu.u64("period");
  if (found.cpu_period == 0U) found.cpu_period.reset();
  found.cpu_shares = cpu.u64("shares");
  found.cpus = cpu.text("cpus").value_or("");
  found.mems = cpu.text("mems").value_or("");
  for (const auto& limit : resources.objects("hugepageLimits")) {
    const auto size = limit.text("pageSize");
    const auto bytes = limit.u64("limit");
    if (size && bytes) found.hugepages[*size] = *bytes;
  }
  return found;
}

}  // namespace kcg
