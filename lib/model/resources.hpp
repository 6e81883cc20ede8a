// SPDX-License-Identifier: Apache-2.0
//
// What one container was promised (L1), in the units of the OCI runtime spec.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace kcg {

/// Where a container's limits were read; first that knows wins (registration > nri >
/// kata_state > bundle).
enum class ResourceSource : std::uint8_t { registration, nri, kata_state, bundle };
[[nodiscard]] constexpr std::string_view name(ResourceSource source) {
  if (source == ResourceSource::registration) return "registration";
  if (source == ResourceSource::nri) return "nri";
  return source == ResourceSource::kata_state ? "kata-state" : "bundle";
}

/// Value: linux.resources of one container. Absent = not given. memory_limit <= 0 and
/// cpu_quota <= 0 mean "unlimited", as in the spec.
struct Resources {
  std::optional<std::int64_t> memory_limit;  ///< bytes
  std::optional<std::int64_t> cpu_quota;     ///< microseconds per period
  std::optional<std::uint64_t> cpu_period;   ///< microseconds; 100000 if absent
  std::optional<std::uint64_t> cpu_shares;
  std::string cpus;  ///< cpuset list, "" = not given
  std::string mems;
  std::map<std::string, std::uint64_t> hugepages;  ///< page size ("2MB") -> bytes
  bool operator==(const Resources&) const = default;
};

/// Value: one counted container of a sandbox.
struct Container {
  std::string id;
  std::string name;
  Resources resources;
  ResourceSource source = ResourceSource::bundle;
  bool stopped = false;
  std::string cgroups_path;  ///< linux.cgroupsPath of its bundle, "" if unknown
  bool operator==(const Container&) const = default;
};

}  // namespace kcg
