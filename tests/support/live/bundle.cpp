// SPDX-License-Identifier: Apache-2.0
#include "support/live/bundle.hpp"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace kcg::live {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kUid = "11111111-2222-3333-4444-555555555555";

Json annotations_of(const BundleSpec& spec) {
  Json all = {{"io.kubernetes.cri.container-type", spec.container ? "container" : "sandbox"},
              {"io.kubernetes.cri.sandbox-id", spec.sandbox_id},
              {"io.kubernetes.cri.sandbox-name", "live"},
              {"io.kubernetes.cri.sandbox-namespace", "tests"},
              {"io.kubernetes.cri.sandbox-uid", kUid}};
  if (spec.container) {
    all["io.kubernetes.cri.container-name"] = spec.container->name;
    all["io.kubernetes.cri.image-name"] = "localhost/app:1";
  } else {
    all["io.kubernetes.cri.sandbox-log-directory"] = "/var/log/pods/live";
    all["io.kubernetes.cri.sandbox-cpu-period"] = "100000";
    all["io.kubernetes.cri.sandbox-cpu-quota"] = "0";
    all["io.kubernetes.cri.sandbox-cpu-shares"] = "0";
    all["io.kubernetes.cri.sandbox-memory"] = "0";
  }
  for (const auto& [key, value] : spec.annotations) all[key] = value;
  return all;
}

Json resources_of(const BundleSpec& spec) {
  Json resources = {{"devices", Json::array({{{"allow", false}, {"access", "rwm"}}})}};
  if (!spec.container) {
    resources["cpu"] = {{"shares", 2}};
    return resources;
  }
  const auto& c = *spec.container;
  resources["memory"] = {{"limit", c.memory_limit}, {"swap", c.memory_limit}};
  resources["cpu"] = {{"shares", 512}, {"quota", c.cpu_quota}, {"period", 100000}};
  if (!c.cpus.empty()) resources["cpu"]["cpus"] = c.cpus;
  return resources;
}

Json config_of(const BundleSpec& spec) {
  return {{"ociVersion", "1.1.0"},
          {"process", {{"user", {{"uid", 0}, {"gid", 0}}}, {"args", {"/pause"}}, {"cwd", "/"}}},
          {"root", {{"path", "rootfs"}, {"readonly", true}}},
          {"hostname", "live"},
          {"annotations", annotations_of(spec)},
          {"linux",
           {{"resources", resources_of(spec)},
            {"cgroupsPath", spec.cgroups_path},
            {"namespaces", Json::array({{{"type", "pid"}}, {{"type", "ipc"}}})}}}};
}

}  // namespace

std::string bundle_directory(const std::string& run_root, const std::string& id) {
  return run_root + "/run/containerd/io.containerd.runtime.v2.task/k8s.io/" + id;
}

std::string write_bundle(const std::string& run_root, const BundleSpec& spec) {
  const auto directory = bundle_directory(run_root, spec.id);
  std::filesystem::create_directories(directory + "/rootfs");
  std::ofstream(directory + "/config.json") << config_of(spec).dump();
  if (!spec.shim_binary.empty()) std::ofstream(directory + "/shim-binary-path") << spec.shim_binary;
  return directory;
}

void remove_bundle(const std::string& run_root, const std::string& id) {
  std::filesystem::remove_all(bundle_directory(run_root, id));
}

}  // namespace kcg::live
