// SPDX-License-Identifier: Apache-2.0
//
// What is wanted for one sandbox (L1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/condition.hpp"
#include "model/devices.hpp"
#include "model/history.hpp"
#include "model/host.hpp"
#include "model/ids.hpp"
#include "model/process.hpp"
#include "model/usage.hpp"
#include "model/wanted_file.hpp"

namespace kcg {

/// Value: one group that should exist, in one hierarchy.
struct WantedGroup {
  GroupRole role = GroupRole::sandbox;
  GroupRef ref;
  GroupType type = GroupType::domain;
  bool katas =
      false;  ///< legacy: Kata's own directory, which may be marked and used; Kata fills its cpuset
  bool shared = false;        ///< root of legacy groups: made and seeded, never marked or removed
  bool make_parents = false;  ///< pod-less: missing parents are made
  bool scope = false;         ///< made by systemd (StartTransientUnit)
  std::vector<WantedFile> seeds;  ///< cpuset.cpus/mems, before the first member
  std::vector<WantedFile> limits;
  std::vector<std::string> subtree;     ///< controllers wanted in its own cgroup.subtree_control
  std::optional<DevicePolicy> devices;  ///< carried from Kata's group; nullopt: there is none
  bool operator==(const WantedGroup&) const = default;
};

/// Value: controllers to enable in a group that is not ours (pod cgroup, Kata's scope).
struct WantedSubtree {
  GroupRef ref;
  std::vector<std::string> controllers;
  bool operator==(const WantedSubtree&) const = default;
};

/// One place per Host::hierarchies entry; nullopt: not placed in that hierarchy.
using Places = std::vector<std::optional<CgroupPath>>;

/// Value: one process and where it belongs.
struct WantedProcess {
  TaskKey key;
  ProcessRole role = ProcessRole::descendant;
  ThreadClass cls = ThreadClass::vmm;  ///< class of the process as a whole
  Places home;                         ///< where the whole process goes
  Places top;  ///< a leader within this is with us already: only single threads move
  struct Member {
    TaskKey key;
    ThreadClass cls = ThreadClass::vmm;
    Places paths;
    bool operator==(const Member&) const = default;
  };
  std::vector<Member> threads;
  bool operator==(const WantedProcess&) const = default;
};

/// No local VMM of Kata is known to get along with less memory beside its guest.
inline constexpr std::uint64_t kPlausibleOverheadMib = 64;

/// Value: the memory and CPU overhead in force.
struct Overhead {
  std::uint64_t memory_bytes = 0;
  std::uint64_t cpu_milli = 0;
  OverheadSource source = OverheadSource::default_value;
  bool operator==(const Overhead&) const = default;
};

/// Value: one number with its derivation, for `explain`.
struct Explanation {
  std::string subject;  ///< "memory.max of /kubepods/.../kata-sandbox-x", "placement"
  std::string value;    ///< the value wanted, kernel text
  std::string formula;  ///< with the numbers in it
  struct Input {
    std::string name, value, source;
    bool operator==(const Input&) const = default;
  };
  std::vector<Input> inputs;
  std::string change;             ///< what would change it
  std::string key;                ///< of a limit: the file
  std::optional<GroupRole> role;  ///< of a limit: whose file
  std::string path;               ///< the group
  std::string in_force;           ///< what its file holds now; "" where that is not known
  bool operator==(const Explanation&) const = default;
};

/// Value: the whole wish for one sandbox.
struct Desired {
  Layout layout = Layout::sandbox_only;
  LayoutSource layout_source = LayoutSource::default_value;
  Driver driver = Driver::cgroupfs;
  Form form = Form::plain;
  CgroupPath pod_cgroup;
  CgroupPath sandbox_cgroup;   ///< constrained group in legacy on v1
  CgroupPath overhead_cgroup;  ///< legacy: the unconstrained one; else "/"
  bool act = false;            ///< false: nothing is to be made or moved (yet)
  std::string waiting_for;     ///< why not, for people
  Overhead overhead;
  std::optional<MemoryCeiling> ceiling;  ///< of what is charged to the sandbox
  History history;                       ///< the observed one, brought up to date
  std::vector<WantedSubtree> enables;
  std::vector<WantedGroup> groups;  ///< parents before children
  std::vector<WantedProcess> processes;
  std::vector<Condition> conditions;
  bool operator==(const Desired&) const = default;
};

}  // namespace kcg
