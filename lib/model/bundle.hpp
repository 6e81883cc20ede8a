// SPDX-License-Identifier: Apache-2.0
//
// What engines, Kata and bus callers say about a sandbox (L1): values parsed by oci/ and config/.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/condition.hpp"
#include "model/enums.hpp"
#include "model/file_id.hpp"
#include "model/ids.hpp"
#include "model/node_data.hpp"
#include "model/resources.hpp"

namespace kcg {

enum class BundleType : std::uint8_t { sandbox, container, single };

/// Value: one OCI bundle's config.json, reduced to what the product reads, plus the small files
/// that stand beside it.
struct Bundle {
  std::string id;                      ///< name of the bundle directory
  std::string directory;               ///< absolute path
  std::optional<FileId> directory_id;  ///< the directory itself, where it was looked at
  Engine engine = Engine::none;        ///< none: pod-less
  std::string ns;                      ///< containerd namespace ("k8s.io"), "" for CRI-O
  BundleType type = BundleType::single;
  std::string sandbox_id;  ///< of the pod's sandbox; own id for sandbox and single
  std::string container_name;
  PodName pod;
  std::string handler;       ///< runtime handler named by the engine's annotation, "" if none
  std::string cgroups_path;  ///< linux.cgroupsPath, verbatim
  Resources resources;
  std::optional<std::string> overhead_annotation;  ///< ...hypervisor.memory_overhead, verbatim
  std::optional<std::string> boot_annotation;      ///< ...hypervisor.default_memory, verbatim
  std::optional<std::string> layout_annotation;    ///< ...runtime.sandbox_cgroup_only, verbatim
  std::optional<std::string> pinning_annotation;   ///< ...runtime.enable_vcpus_pinning, verbatim
  std::optional<std::uint64_t> total_memory;       ///< engine's sum for the pod, bytes, never 0
  std::optional<std::int64_t> total_cpu_quota;
  std::optional<std::uint64_t> total_cpu_period;
  std::optional<std::uint64_t> total_cpu_shares;
  std::optional<std::uint64_t> pod_overhead_memory;  ///< the pod's own overhead, bytes, never 0
  std::optional<std::uint64_t> pod_overhead_cpu_milli;
  std::optional<Pid> shim_pid;        ///< file shim.pid
  std::string shim_binary;            ///< file shim-binary-path, "" if absent
  std::vector<Condition> complaints;  ///< parts that are malformed and say nothing
  std::string unreadable;  ///< container: why nothing but its sandbox is known of it; "" mostly
  bool ended = false;      ///< Kata's state has called it stopped since this bundle was made
  bool operator==(const Bundle&) const = default;
};

/// Value: Kata's own record of a sandbox (persist.json of the Go shim, state.json of runtime-rs).
struct KataState {
  std::string file;   ///< where it was read, "" if unknown
  std::string state;  ///< "running", "stopped", ... as written
  std::optional<bool> sandbox_cgroup_only;
  std::optional<bool> vcpus_pinning;
  std::string hypervisor;             ///< "qemu", "clh", "dragonball", "remote", ... verbatim
  std::uint64_t boot_memory_mib = 0;  ///< 0 = unknown
  std::uint64_t hotplugged_memory_mib = 0;
  std::map<std::string, Resources> containers;  ///< by container id, as updated
  std::set<std::string> stopped;                ///< containers that have ended

  /// For people: where something stands that it says.
  [[nodiscard]] std::string place() const {
    return file.empty() ? "Kata's state of the sandbox" : "Kata's state, " + file;
  }
  bool operator==(const KataState&) const = default;
};

/// Value: what a privileged bus caller declared with RegisterSandbox.
struct Registration {
  std::optional<std::string> cgroups_path;
  std::map<std::string, std::string> annotations;
  std::string handler;
  PodName pod;
  std::optional<TaskKey> shim;                   ///< resolved from ShimPidFd: counts as proof
  std::optional<TaskKey> vmm;                    ///< resolved from VmmPidFd: counts as proof
  std::optional<std::uint64_t> memory_overhead;  ///< bytes
  std::optional<std::uint32_t> cpu_overhead_milli;
  std::map<std::string, Resources> containers;
  std::optional<bool> sandbox_cgroup_only;
  std::int64_t since = 0;  ///< seconds since 1970; 0: by a version that did not note it
  std::uint32_t uid = 0;   ///< of who said so
  bool operator==(const Registration&) const = default;
};

/// Value: [hypervisor.<name>] default_memory of Kata's configuration.toml: what a VM boots with.
struct KataDefaultMemory {
  std::uint64_t mib = 0;
  std::string where;  ///< "<file>:<line>"
  bool operator==(const KataDefaultMemory&) const = default;
};

/// Value: everything that was said about one sandbox; nothing here was read from the kernel.
struct SandboxInputs {
  SandboxId id;
  std::optional<Bundle> bundle;    ///< of the sandbox container
  bool unreadable = false;         ///< it exists, and nothing of it was ever understood
  std::vector<Bundle> containers;  ///< bundles that belong to it, sorted by id
  std::optional<KataState> kata;
  std::optional<Registration> registration;
  std::optional<NodeData> node;          ///< what the engine told through NRI
  std::optional<bool> kata_config_only;  ///< sandbox_cgroup_only of Kata's configuration.toml
  std::string kata_config_where;         ///< "<file>:<line>" of it
  std::optional<bool> kata_config_pins;  ///< enable_vcpus_pinning; nullopt: it cannot be read
  std::string kata_config_pins_where;
  std::map<std::string, KataDefaultMemory> kata_default_memory;  ///< by the hypervisor's name

  /// The cgroupsPath that counts: registration's, else the bundle's.
  [[nodiscard]] std::optional<std::string> cgroups_path() const {
    if (registration && registration->cgroups_path) return registration->cgroups_path;
    if (bundle) return bundle->cgroups_path;
    return std::nullopt;
  }
  [[nodiscard]] bool pod_less() const {
    const bool podded = registration && !registration->pod.uid.empty();
    return !podded && (!bundle || bundle->type == BundleType::single);
  }
  bool operator==(const SandboxInputs&) const = default;
};

}  // namespace kcg
