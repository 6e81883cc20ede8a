// SPDX-License-Identifier: Apache-2.0
#include "config/keys.hpp"

#include <array>

#include "config/key_kinds.hpp"

namespace kcg {

namespace {

using namespace key_kinds;

constexpr std::array<std::string_view, 2> kModes = {"enforce", "observe"};
constexpr std::array<std::string_view, 3> kHierarchies = {"auto", "v1", "v2"};
constexpr std::array<std::string_view, 2> kExisting = {"leave", "place"};
constexpr std::array<std::string_view, 3> kNri = {"auto", "on", "off"};
constexpr std::array<std::string_view, 3> kMemory = {"never", "annotated", "always"};

constexpr std::uint64_t kMostMib = 1'048'576;
constexpr std::uint64_t kMostMillicpu = 1'000'000;

using C = Config;
using Keys = std::vector<ConfigKey>;

Keys keys_of_placement() {
  return {
      choice<kModes, &C::mode>(
          {"mode", false,
           "\"observe\": find, compute and report everything, and write nothing at all."}),
      choice<kHierarchies, &C::cgroup, &C::Cgroup::hierarchy>(
          {"cgroup.hierarchy", true,
           "Which cgroup rules apply. \"auto\" finds out from what is mounted."}),
      path<&C::cgroup, &C::Cgroup::root>(
          {"cgroup.root", true, "Where the cgroup file systems are mounted."}),
      automatic_flag<&C::layout, &C::LayoutSection::sandbox_cgroup_only>(
          {"layout.sandbox_cgroup_only", false,
           "true: the whole sandbox stays in the pod's cgroup. false: the legacy layout, with the "
           "hypervisor outside of it. \"auto\" follows Kata's own state, annotations and "
           "configuration.toml. Counts for sandboxes that start later."}),
      cgroup<&C::layout, &C::LayoutSection::legacy_root>(
          {"layout.legacy_root", true,
           "Legacy layout: the group that holds what is not limited by the pod."}),
      flag<&C::layout, &C::LayoutSection::allow_annotation>(
          {"layout.allow_annotation", false,
           "Whether a pod's annotation may select the legacy layout, which takes memory out of the "
           "pod's limit. Leave it off where tenants write pods."}),
      flag<&C::placement, &C::Placement::thread_groups>(
          {"placement.thread_groups", false,
           "Separate groups for vCPU, I/O, VMM and shim threads below the sandbox's group."}),
      choice<kExisting, &C::placement, &C::Placement::existing>(
          {"placement.existing", true,
           "Sandboxes that ran before the daemon's first start on this boot: \"leave\" them alone, "
           "or \"place\" them although their memory stays charged where it was."}),
  };
}

Keys keys_of_sizing() {
  return {
      number<0, kMostMib, &C::overhead, &C::Overhead::default_mib>(
          {"overhead.default_mib", false,
           "Memory overhead in MiB of a sandbox whose pod, annotation and handler say nothing."}),
      number<0, kMostMillicpu, &C::overhead, &C::Overhead::default_millicpu>(
          {"overhead.default_millicpu", false, "The same for CPU, in thousandths of a CPU."}),
      number<1, kMostMib, &C::overhead, &C::Overhead::max_mib>(
          {"overhead.max_mib", false,
           "The largest overhead in MiB that a pod's annotation may ask for."}),
      handler<kMostMib, &HandlerOverhead::mib>(
          {"overhead.handlers.*.mib", false,
           "Memory overhead in MiB of the pods of one runtime handler. Any handler may have a "
           "table of its own."}),
      handler<kMostMillicpu, &HandlerOverhead::millicpu>(
          {"overhead.handlers.*.millicpu", false, "The same for CPU, in thousandths of a CPU."}),
      choice<kMemory, &C::sizing, &C::Sizing::memory>(
          {"sizing.memory", false,
           "When the sandbox's group gets a memory limit of its own, what the VM boots with plus "
           "containers plus overhead: \"never\", only where an \"annotated\" or granted overhead "
           "is "
           "known, or \"always\"."}),
      flag<&C::sizing, &C::Sizing::vcpu_quota>(
          {"sizing.vcpu_quota", false,
           "Limit the vCPU threads to the sum of the containers' CPU limits."}),
  };
}

Keys keys_of_what_is_heard() {
  return {
      path<&C::discovery, &C::Discovery::containerd_state>(
          {"discovery.containerd_state", true, "containerd's state directory."}),
      path<&C::discovery, &C::Discovery::crio_root>(
          {"discovery.crio_root", true, "CRI-O's run root, where its bundles are."}),
      paths<&C::discovery, &C::Discovery::kata_state>(
          {"discovery.kata_state", true,
           "Where Kata keeps its sandboxes' state: the Go shim's directory, then runtime-rs's."}),
      paths<&C::discovery, &C::Discovery::kata_config>(
          {"discovery.kata_config", true,
           "Kata's own configuration; the first file that exists is read."}),
      choice<kNri, &C::nri, &C::Nri::mode>(
          {"nri.mode", true,
           "Whether pods' overhead, requests and labels are learnt from the engine through NRI: "
           "\"auto\" connects as soon as the socket exists, \"on\" calls it a problem if it "
           "does not, \"off\" never connects."}),
      path<&C::nri, &C::Nri::socket>({"nri.socket", true, "The engine's NRI socket."}),
      duration<&C::reconcile_interval>(
          {"reconcile.interval", false,
           "How often everything is compared with the kernel even if nothing was reported. With "
           "so many sandboxes that this would take more than 0.8 % of a CPU each of them is "
           "compared less often; where events were lost, all are at once."}),
      duration_or_off<&C::measure_interval>(
          {"measure.interval", false,
           "How often it is measured what each sandbox really uses. \"off\": never."}),
      address<&C::bus_address>(
          {"bus.address", true,
           "Where the D-Bus API is served: the \"system\" bus, an address, or \"none\"."}),
      address<&C::systemd_address>(
          {"systemd.address", true, "Where systemd's manager is reached to make scopes."}),
  };
}

Keys keys_of_limits() {
  return {
      number<1, 1'000'000, &C::limits, &C::Limits::max_sandboxes>(
          {"limits.max_sandboxes", false,
           "Bundles beyond eight times this number are ignored, registrations beyond it refused."}),
      number<1, 4'194'304, &C::limits, &C::Limits::max_threads_per_sandbox>(
          {"limits.max_threads_per_sandbox", false,
           "A process of a sandbox with more threads is placed as a whole, but for vCPUs that KVM "
           "tells."}),
      number<4096, 67'108'864, &C::limits, &C::Limits::max_bundle_bytes>(
          {"limits.max_bundle_bytes", false, "A larger config.json of a bundle is not read."}),
  };
}

Keys all_keys() {
  Keys all;
  for (const auto& some :
       {keys_of_placement(), keys_of_sizing(), keys_of_what_is_heard(), keys_of_limits()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

}  // namespace

std::string ConfigKey::full_name(std::string_view handler_name) const {
  std::string full(name);
  const auto star = full.find('*');
  if (star != std::string::npos) full.replace(star, 1, toml_key(handler_name));
  return full;
}

const std::vector<ConfigKey>& config_keys() {
  static const std::vector<ConfigKey> keys = all_keys();
  return keys;
}

}  // namespace kcg
