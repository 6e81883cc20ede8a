// SPDX-License-Identifier: Apache-2.0
//
// OCI bundles as containerd's CRI plugin writes them for a Kata pod.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace kcg::live {

/// Value: one container beside the pause container.
struct ContainerSpec {
  std::string id;
  std::string name = "app";
  std::int64_t memory_limit = 134217728;
  std::int64_t cpu_quota = 50000;
  std::string cpus = {};  ///< "": any
};

/// Value: a bundle to be written.
struct BundleSpec {
  std::string id;
  std::string sandbox_id;  ///< equal to `id` for the sandbox itself
  std::string cgroups_path;
  std::string shim_binary;                         ///< "": no shim-binary-path
  std::map<std::string, std::string> annotations;  ///< added to containerd's own
  std::optional<ContainerSpec> container;          ///< absent: the sandbox
};

/// Where containerd keeps the bundle of `id` in namespace k8s.io.
[[nodiscard]] std::string bundle_directory(const std::string& run_root, const std::string& id);
/// Makes the directory and its files; returns it.
std::string write_bundle(const std::string& run_root, const BundleSpec& spec);
void remove_bundle(const std::string& run_root, const std::string& id);

}  // namespace kcg::live
