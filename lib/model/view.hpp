// SPDX-License-Identifier: Apache-2.0
//
// One sandbox as people and programs see it (L1): the D-Bus properties, and what cgctl prints. Made
// by show/view from (Observed, Desired, Plan, Standing); the same with and without the daemon.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/condition.hpp"
#include "model/enums.hpp"
#include "model/ids.hpp"
#include "model/node_data.hpp"
#include "model/plan.hpp"
#include "model/resources.hpp"

namespace kcg {

/// Value: one thread, where it is and where it belongs. Paths of the first splitting hierarchy.
struct ThreadView {
  Pid pid = 0;
  Pid tid = 0;
  ProcessRole role = ProcessRole::descendant;
  ThreadClass cls = ThreadClass::vmm;
  ClassSource by = ClassSource::fallback;
  std::string comm;
  std::uint64_t cpu_usec = 0;
  std::string group_now;
  std::string group_wanted;
  bool placed = false;  ///< in every hierarchy
  bool operator==(const ThreadView&) const = default;
};

/// Value: one group of the sandbox.
struct GroupView {
  GroupRole role = GroupRole::sandbox;
  std::string path;
  std::vector<std::string> hierarchies;
  GroupType type = GroupType::domain;
  std::map<std::string, std::string> limits;    ///< in force, kernel text
  std::map<std::string, std::string> wanted;    ///< that differ or are to be written
  std::optional<std::uint64_t> memory_current;  ///< bytes
  bool exists = false;
  bool operator==(const GroupView&) const = default;
};

/// Value: what the pod asked for, and was granted beyond its containers. A source is
/// "registration", "bundle" or "nri"; "": nobody said anything.
struct PodAsked {
  PodAmounts overhead;
  std::string overhead_source;
  std::optional<std::uint64_t> cpu_request_milli;
  PodAmounts limits;  ///< sum of the containers'
  std::string requests_source;
  std::map<std::string, std::string> labels;  ///< from NRI
  bool operator==(const PodAsked&) const = default;
};

/// Value: see the head of the file.
struct SandboxView {
  std::string id;
  std::string pod_namespace, pod_name, pod_uid;
  std::string handler;
  Engine engine = Engine::none;
  Layout layout = Layout::sandbox_only;
  LayoutSource layout_source = LayoutSource::default_value;
  Driver driver = Driver::cgroupfs;
  SandboxState state = SandboxState::discovered;
  std::string pod_cgroup, sandbox_cgroup, overhead_cgroup;
  std::map<std::string, std::string> pod_limits;  ///< of the pod's group, in force, kernel text
  Hypervisor hypervisor = Hypervisor::unknown;
  Pid shim_pid = 0;
  Pid vmm_pid = 0;
  std::uint32_t vcpus = 0;
  Overhead overhead;
  std::optional<std::uint64_t> memory_used;    ///< bytes, of the sandbox group
  std::optional<std::uint64_t> memory_limit;   ///< nullopt: unlimited
  std::optional<std::uint64_t> overhead_used;  ///< bytes, as measured last
  std::optional<std::uint64_t> overhead_peak;  ///< bytes, the most of this VM's life
  std::optional<std::uint64_t> cpu_milli;  ///< thousandths of a CPU that it uses, as measured last
  std::int64_t created = 0;                ///< seconds since the epoch, VMM's or shim's start
  std::vector<ThreadView> threads;
  std::vector<GroupView> groups;
  std::vector<Container> containers;
  PodAsked asked;
  std::vector<ActiveCondition> conditions;
  std::string ignored;  ///< `list --all`: why it is not managed; "" for real sandboxes
  bool operator==(const SandboxView&) const = default;

  [[nodiscard]] bool failing() const {
    for (const auto& c : conditions)
      if (c.condition.severity != Severity::info) return true;
    return false;
  }
};

}  // namespace kcg
