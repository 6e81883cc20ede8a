// SPDX-License-Identifier: Apache-2.0
#include "state.hpp"

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "processes.hpp"
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

Json container_config(const Container& container) {
  Json annotations = Json::parse(container.annotations);
  annotations["io.katacontainers.pkg.oci.bundle_path"] = container.bundle;
  annotations["io.katacontainers.pkg.oci.container_type"] = "pod_container";
  return {{"Annotations", annotations},
          {"Resources", Json::parse(container.resources)},
          {"ID", container.id},
          {"RootFs", container.bundle + "/rootfs"}};
}

Json container_state(const std::string& state, const std::string& id) {
  return {{"State", state},
          {"CgroupPath", ""},
          {"BundlePath", ""},
          {"Rootfs", {{"BlockDeviceID", ""}, {"FsType", ""}}},
          {"Process", {{"StartTime", "2026-01-01T00:00:00Z"}, {"Token", id}, {"Pid", -1}}},
          {"DeviceMaps", nullptr},
          {"Mounts", nullptr}};
}

Json document(const Options& o, const Saved& saved, const Json& config) {
  const Json hypervisor = {{"BlockIndexMap", Json::object()},
                           {"Type", "qemu"},
                           {"APISocket", ""},
                           {"HotpluggedVCPUs", nullptr},
                           {"HotpluggedMemory", 0},
                           {"VirtiofsDaemonPid", saved.helper},
                           {"Pid", saved.vmm}};
  Json containers = Json::array({container_config(o, config)});
  for (const auto& container : saved.containers) containers.push_back(container_config(container));
  const Json settings = {{"HypervisorType", "qemu"},
                         {"ContainerConfigs", containers},
                         {"HypervisorConfig",
                          {{"HypervisorPath", o.vmm},
                           {"NumVCPUsF", o.vcpus},
                           {"DefaultMaxVCPUs", o.max_vcpus},
                           {"MemorySize", o.memory_mib},
                           {"Debug", o.thread_names}}},
                         {"SystemdCgroup", false},
                         {"SandboxCgroupOnly", o.sandbox_cgroup_only},
                         {"DisableGuestSeccomp", true},
                         {"EnableVCPUsPinning", o.pinning}};
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

Status rewrite(const std::string& path, const Json& json, std::chrono::milliseconds gap) {
  const auto text = json.dump(1);
  std::ofstream file(path, std::ios::trunc);
  pause_for(gap);
  file << text.substr(0, text.size() / 2) << std::flush;
  pause_for(gap);
  file << text.substr(text.size() / 2);
  if (!file.flush()) return fail(EIO, "{}: cannot write", path);
  return {};
}

Status save_container(const Options& o, const std::string& id, const std::string& state) {
  const auto directory = places(o).state + "/" + id;
  std::error_code failed;
  std::filesystem::create_directories(directory, failed);
  if (failed) return fail(failed.value(), "{}: {}", directory, failed.message());
  return rewrite(directory + "/persist.json", container_state(state, id), o.save_gap);
}

Container load_container(const Options& o, const Json& config) {
  Container container;
  container.id = config.value("ID", "");
  const Json annotations = config.value("Annotations", Json::object());
  container.bundle = annotations.value("io.katacontainers.pkg.oci.bundle_path", "");
  container.annotations = annotations.dump();
  container.resources = config.value("Resources", Json::object()).dump();
  const auto state = read_json(places(o).state + "/" + container.id + "/persist.json");
  if (state.is_object()) container.state = state.value("State", "");
  return container;
}

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
  auto config = read_json(o.bundle + "/config.json");
  if (!config.is_object()) config = Json::object();  // the engine was first to remove its bundle
  const auto json = document(o, saved, config);
  if (auto done = rewrite(state_file(o), json, o.save_gap); !done) return done;
  if (auto done = save_container(o, o.id, saved.state); !done) return done;
  for (const auto& container : saved.containers)
    if (auto done = save_container(o, container.id, container.state); !done) return done;
  return {};
}

void forget_container(const Options& o, const std::string& id) {
  std::error_code ignored;  // best effort, as Kata's own clean-up
  std::filesystem::remove_all(places(o).state + "/" + id, ignored);
}

std::optional<Saved> load_state(const Options& o) {
  const auto json = read_json(state_file(o));
  if (!json.is_object()) return std::nullopt;
  const Json hypervisor = json.value("HypervisorState", Json::object());
  Saved saved{json.value("State", ""), json.value("SandboxCgroupPath", ""),
              json.value("OverheadCgroupPath", ""), hypervisor.value("Pid", 0),
              hypervisor.value("VirtiofsDaemonPid", 0)};
  for (const auto& config : json.value("/Config/ContainerConfigs"_json_pointer, Json::array()))
    if (config.value("ID", "") != o.id) saved.containers.push_back(load_container(o, config));
  return saved;
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

bool has_directories(const Options& o) {
  std::error_code ignored;  // what cannot be seen cannot be written either
  return std::filesystem::exists(places(o).state, ignored);
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
