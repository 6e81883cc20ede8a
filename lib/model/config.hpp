// SPDX-License-Identifier: Apache-2.0
//
// The effective configuration (L1). Defaults are here and nowhere else; config/ parses into it and
// the shipped sample file is proven against it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kcg {

enum class Mode : std::uint8_t { enforce, observe };
enum class HierarchyChoice : std::uint8_t { automatic, v1, v2 };
enum class ExistingPolicy : std::uint8_t { leave, place };
enum class NriMode : std::uint8_t { automatic, on, off };
enum class MemorySizing : std::uint8_t { never, annotated, always };

/// Value: overhead of one runtime handler.
struct HandlerOverhead {
  std::uint64_t mib = 350;
  std::uint64_t millicpu = 250;
  bool operator==(const HandlerOverhead&) const = default;
};

/// Value: what the operator wants. Paths are as configured; --run-root is applied by config/.
struct Config {
  Mode mode = Mode::enforce;
  struct Cgroup {
    HierarchyChoice hierarchy = HierarchyChoice::automatic;
    std::string root = "/sys/fs/cgroup";
    bool operator==(const Cgroup&) const = default;
  } cgroup;
  struct LayoutSection {
    std::optional<bool> sandbox_cgroup_only;  ///< nullopt: "auto"
    std::string legacy_root = "/kata";
    bool allow_annotation = false;
    bool operator==(const LayoutSection&) const = default;
  } layout;
  struct Placement {
    bool thread_groups = true;
    ExistingPolicy existing = ExistingPolicy::leave;
    bool operator==(const Placement&) const = default;
  } placement;
  struct Overhead {
    std::uint64_t default_mib = 350;
    std::uint64_t default_millicpu = 250;
    std::uint64_t max_mib = 4096;
    std::map<std::string, HandlerOverhead> handlers = {{"kata", {350, 250}},
                                                       {"kata-remote", {120, 250}}};
    bool operator==(const Overhead&) const = default;
  } overhead;
  struct Sizing {
    MemorySizing memory = MemorySizing::annotated;
    bool vcpu_quota = true;
    bool operator==(const Sizing&) const = default;
  } sizing;
  struct Discovery {
    std::string containerd_state = "/run/containerd";
    std::string crio_root = "/run/containers/storage";
    std::vector<std::string> kata_state = {"/run/vc", "/run/kata"};
    std::vector<std::string> kata_config = {
        "/etc/kata-containers/configuration.toml",
        "/usr/share/defaults/kata-containers/configuration.toml",
        "/opt/kata/share/defaults/kata-containers/configuration.toml"};
    bool operator==(const Discovery&) const = default;
  } discovery;
  struct Nri {
    NriMode mode = NriMode::automatic;
    std::string socket = "/run/nri/nri.sock";
    bool operator==(const Nri&) const = default;
  } nri;
  std::chrono::milliseconds reconcile_interval{30'000};
  std::optional<std::chrono::milliseconds> measure_interval{10'000};  ///< nullopt: "off"
  std::string bus_address = "system";      ///< system | none | an address
  std::string systemd_address = "system";  ///< system | none | an address
  struct Limits {
    std::uint64_t max_sandboxes = 10'000;
    std::uint64_t max_threads_per_sandbox = 4096;
    std::uint64_t max_bundle_bytes = 4'194'304;
    bool operator==(const Limits&) const = default;
  } limits;
  /// All of /run is looked for below this directory; "": the node's own. Not a key: --run-root.
  std::string run_root;
  /// Where keys were set: "/etc/kata-cgroupd/config.toml:12" or "command line", by full name. Told,
  /// and no part of what is configured.
  struct Origins {
    std::map<std::string, std::string> by_name;
    bool operator==(const Origins& /*other*/) const { return true; }
  } origins;
  bool operator==(const Config&) const = default;

  /// "default" for keys that nobody set.
  [[nodiscard]] std::string origin(const std::string& key) const {
    const auto it = origins.by_name.find(key);
    return it == origins.by_name.end() ? "default" : it->second;
  }
  /// "configuration (/etc/kata-cgroupd/config.toml:12)", "configuration (default)"
  [[nodiscard]] std::string where(const std::string& key) const {
    return "configuration (" + origin(key) + ")";
  }
};

}  // namespace kcg
