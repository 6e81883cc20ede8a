// SPDX-License-Identifier: Apache-2.0
#include "state.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "vmm.hpp"

namespace kcg::standin {

namespace {

using Json = nlohmann::ordered_json;

Json container_config(const Options& o, const Json& config) {
  Json annotations = config.value("annotations", Json::object());
  annotations["io.katacontainers.pkg.oci.bundle_path"] = o.bundle;
  annotations["io.katacontainers.pkg.oci.container_type"] = "pod_sandbox";
  return {{"Annotations", annotations},
          {"Resources", config.value("/linux/resources"_json_pointer, Json::object())},
          {"ID", o.id},
          {"RootFs", o.bundle + "/rootfs"}};
}

Json document(const Options& o, const Saved& saved, const Json& config) {
  const Json hypervisor = {{"BlockIndexMap", Json::object()},
                           {"Type", "qemu"},
                           {"APISocket", ""},
                           {"HotpluggedVCPUs", nullptr},
                           {"HotpluggedMemory", 0},
                           {"VirtiofsDaemonPid", saved.helper},
                           {"Pid", saved.vmm}};
  const Json settings = {{"HypervisorType", "qemu"},
                         {"ContainerConfigs", Json::array({container_config(o, config)})},
                         {"HypervisorConfig",
                          {{"HypervisorPath", o.vmm},
                           {"NumVCPUsF", o.vcpus},
                           {"DefaultMaxVCPUs", o.max_vcpus},
                           {"MemorySize", 128},
                           {"Debug", o.thread_names}}},
                         {"SystemdCgroup", false},
                         {"SandboxCgroupOnly", o.sandbox_cgroup_only}};
  return {{"CgroupPaths", nullptr},
          {"Devices", nullptr},
          {"State", saved.state},
          {"SandboxContainer", o.id},
          {"SandboxCgroupPath", saved.sandbox_group},
          {"OverheadCgroupPath", saved.overhead_group},
          {"HypervisorState", hypervisor},
          {"Config", settings},
          {"PersistVersion", 2},
          {"GuestMemoryBlockSizeMB", 128},
          {"GuestMemoryHotplugProbe", false}};
}

Json read_json(const std::string& path) {
  std::ifstream file(path);
  return Json::parse(file, nullptr, false);
}

std::string state_file(const Options& o) { return places(o).state + "/persist.json"; }

}  // namespace

Result<std::string> read_cgroups_path(const std::string& bundle) {
  const auto file = bundle + "/config.json";
  const auto config = read_json(file);
  const auto pointer = "/linux/cgroupsPath"_json_pointer;
  if (config.is_discarded() || !config.contains(pointer) || !config[pointer].is_string())
    return fail(EINVAL, "{}: no linux.cgroupsPath in it", file);
  return config[pointer].get<std::string>();
}

Result<std::string> kata_group_path(const std::string& cgroups_path) {
  if (split(cgroups_path, ':').size() == 3)
    return fail(ENOTSUP, "cgroupsPath {}: the stand-in knows only the cgroupfs form", cgroups_path);
  const std::filesystem::path given(cgroups_path);
  const auto clean = (given.is_absolute() ? given : "/vc" / given).lexically_normal();
  return clean.parent_path() / ("kata_" + clean.filename().string());
}

Status save_state(const Options& o, const Saved& saved) {
  const auto text = document(o, saved, read_json(o.bundle + "/config.json")).dump(1);
  std::ofstream file(state_file(o), std::ios::trunc);
  file << text.substr(0, text.size() / 2) << std::flush << text.substr(text.size() / 2);
  if (!file.flush()) return fail(EIO, "{}: cannot write", state_file(o));
  return {};
}

std::optional<Saved> load_state(const Options& o) {
  const auto json = read_json(state_file(o));
  if (!json.is_object()) return std::nullopt;
  const Json hypervisor = json.value("HypervisorState", Json::object());
  return Saved{json.value("State", ""), json.value("SandboxCgroupPath", ""),
               json.value("OverheadCgroupPath", ""), hypervisor.value("Pid", 0),
               hypervisor.value("VirtiofsDaemonPid", 0)};
}

Status make_directories(const Options& o) {
  const auto p = places(o);
  for (const auto& path : {p.state, p.vm, p.shared + "/shared", p.shared + "/mounts"}) {
    std::error_code failed;
    std::filesystem::create_directories(path, failed);
    if (failed) return fail(failed.value(), "{}: {}", path, failed.message());
  }
  return {};
}

void remove_directories(const Options& o) {
  const auto p = places(o);
  for (const auto& path : {p.state, p.vm, p.shared}) {
    std::error_code ignored;  // best effort, as Kata's own clean-up
    std::filesystem::remove_all(path, ignored);
  }
}

Status write_shim_pid(const std::string& bundle, Pid pid) {
  const auto hidden = bundle + "/.shim.pid";
  std::ofstream file(hidden);
  file << pid;
  file.close();
  std::error_code failed;
  std::filesystem::rename(hidden, bundle + "/shim.pid", failed);
  if (!file || failed) return fail(EIO, "{}/shim.pid: cannot write", bundle);
  return {};
}

}  // namespace kcg::standin
