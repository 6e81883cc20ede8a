// SPDX-License-Identifier: Apache-2.0
//
// What is said to systemd about scopes, and what it says about units (L9). All of it is documented
// in org.freedesktop.systemd1(5).
#pragma once

#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "cgroup/systemd_manager.hpp"
#include "daemon/systemd/sd_bus.hpp"
#include "kernel/unit_properties.hpp"

namespace kcg::systemd {

/// Every scope of ours is described so: it tells them from units of the same name.
inline constexpr const char* kDescription = "Kata Containers sandbox, placed by kata-cgroupd";

/// Arguments of StartTransientUnit. `pidfd` is of request.member; `pidfds`: the manager takes
/// descriptors instead of pids.
[[nodiscard]] Status put_start(sd_bus_message* message, const ScopeRequest& request,
                               const std::vector<UnitProperty>& limits, const Fd& pidfd,
                               bool pidfds);
/// Arguments of SetUnitProperties, for as long as the unit lives.
[[nodiscard]] Status put_limits(sd_bus_message* message, const std::string& unit,
                                const std::vector<UnitProperty>& limits);

/// Value: a unit as its properties tell it.
struct UnitState {
  std::string description;
  std::string active;  ///< "active", "inactive", "failed", "activating", "deactivating", ...
  bool transient = false;
  std::string job;  ///< object path; "/": it has none
  [[nodiscard]] bool ours() const { return transient && description == kDescription; }
};
/// The answer to GetAll of org.freedesktop.systemd1.Unit.
[[nodiscard]] Result<UnitState> read_unit(sd_bus_message* message);
/// Object path of a unit; asking it loads the unit, or tells that there is none ("inactive").
[[nodiscard]] Result<std::string> unit_path(const std::string& unit);

}  // namespace kcg::systemd
