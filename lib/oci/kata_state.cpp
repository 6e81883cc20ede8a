// SPDX-License-Identifier: Apache-2.0
//
// What decides something, of Kata's own state files. Every field may be absent: versions differ,
// and a sandbox that is being made has not written all of them.
#include <limits>
#include <nlohmann/json.hpp>

#include "oci/bundle_json.hpp"
#include "oci/json_view.hpp"
#include "oci/parse_json.hpp"
#include "oci/resources_json.hpp"

namespace kcg {

namespace {

/// Both runtimes hold sizes in 32 bits; more is damage, and would overflow as bytes.
std::uint64_t mebibytes(const JsonView& view, const char* key) {
  const auto value = view.u64(key).value_or(0);
  if (value <= std::numeric_limits<std::uint32_t>::max()) return value;
  view.problem(key, "larger than 32 bits");
  return 0;
}

std::string first_of(const std::optional<std::string>& a, const std::optional<std::string>& b) {
  if (a && !a->empty()) return *a;
  return b.value_or("");
}

/// persist.json of the Go shim: SandboxState of virtcontainers/persist/api.
KataState read_go(const JsonView& top) {
  const auto config = top.object("Config");
  const auto hypervisor = top.object("HypervisorState");
  KataState state;
  state.state = top.text("State").value_or("");
  state.sandbox_cgroup_only = config.boolean("SandboxCgroupOnly");
  state.vcpus_pinning = config.boolean("EnableVCPUsPinning");
  state.hypervisor = first_of(hypervisor.text("Type"), config.text("HypervisorType"));
  state.boot_memory_mib = mebibytes(config.object("HypervisorConfig"), "MemorySize");
  state.hotplugged_memory_mib = mebibytes(hypervisor, "HotpluggedMemory");
  for (const auto& container : config.objects("ContainerConfigs")) {
    const auto id = container.text("ID").value_or("");
    if (!id.empty()) state.containers[id] = read_resources(container.object("Resources"));
  }
  return state;
}

/// state.json of runtime-rs: {sandbox_type, resource, hypervisor}. It records neither a life-cycle
/// state nor the containers; the hypervisor's config is flat.
KataState read_rs(const JsonView& top) {
  const auto cgroup = top.object("resource").object("cgroup_state");
  const auto hypervisor = top.object("hypervisor");
  KataState state;
  state.sandbox_cgroup_only = cgroup.boolean("sandbox_cgroup_only");
  state.vcpus_pinning = cgroup.boolean("enable_vcpus_pinning");
  state.hypervisor = hypervisor.text("hypervisor_type").value_or("");
  state.boot_memory_mib = mebibytes(hypervisor.object("config"), "default_memory");
  return state;
}

}  // namespace

Result<KataState> parse_kata_state(std::string_view json, bool go) {
  const auto value =
      go ? parse_json(json, {"State", "Config.SandboxCgroupOnly", "Config.EnableVCPUsPinning",
                             "Config.HypervisorType", "Config.HypervisorConfig.MemorySize",
                             "HypervisorState.Type", "HypervisorState.HotpluggedMemory",
                             "Config.ContainerConfigs.ID", "Config.ContainerConfigs.Resources"})
         : parse_json(json, {"resource.cgroup_state", "hypervisor.hypervisor_type",
                             "hypervisor.config.default_memory"});
  if (!value) return forward(value.error());
  JsonProblem problem;
  const JsonView top(*value, problem);
  auto state = go ? read_go(top) : read_rs(top);
  if (!problem.text.empty()) return fail(0, "{}", problem.text);
  return state;
}

Result<std::string> parse_container_state(std::string_view json) {
  const auto value = parse_json(json, {"State"});
  if (!value) return forward(value.error());
  JsonProblem problem;
  const auto state = JsonView(*value, problem).text("State");
  if (!problem.text.empty()) return fail(0, "{}", problem.text);
  return state.value_or("");
}

}  // namespace kcg
