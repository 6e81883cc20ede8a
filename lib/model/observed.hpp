// SPDX-License-Identifier: Apache-2.0
//
// One sandbox as it is right now (L1): what was said about it, its processes, its groups. Made by
// observe/, read by plan/. Everything that desired() and diff() know is in here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/bundle.hpp"
#include "model/condition.hpp"
#include "model/devices.hpp"
#include "model/history.hpp"
#include "model/host.hpp"
#include "model/process.hpp"

namespace kcg {

/// Value: one existing cgroup directory with what was read from it.
struct GroupState {
  GroupRef ref;
  std::uint64_t inode = 0;
  std::optional<std::string> mark;           ///< value of user.kata-cgroupd
  std::map<std::string, std::string> files;  ///< trimmed contents of the files that were asked for
  DevicePolicy devices;                      ///< v2, of Kata's group and of ours
  bool operator==(const GroupState&) const = default;

  [[nodiscard]] std::optional<std::string> file(const std::string& key) const {
    const auto it = files.find(key);
    if (it == files.end()) return std::nullopt;
    return it->second;
  }
};

/// Value: the decision that is fixed at the VMM's exec.
struct FixedLayout {
  Layout layout = Layout::sandbox_only;
  LayoutSource source = LayoutSource::default_value;
  Form form = Form::plain;
  bool operator==(const FixedLayout&) const = default;
};

/// Value: what systemd was asked for and has not answered yet.
struct PendingJob {
  std::string unit;
  bool limits = false;  ///< only limits of a scope that exists; else the scope itself
  bool operator==(const PendingJob&) const = default;
};

/// Value: where the memory of the sandbox's processes is charged, looked at once.
struct ChargeSample {
  std::uint64_t members = 0;           ///< bytes that they have touched
  std::optional<std::uint64_t> group;  ///< bytes of it charged to the sandbox's group
  bool operator==(const ChargeSample&) const = default;
};

/// Value: see the head of the file.
struct Observed {
  Host host;
  SandboxInputs inputs;
  bool proven_kata = false;        ///< some proof that this is Kata's, not only an annotation
  bool gone = false;               ///< shim and VMM have ended, or bundle gone and no process left
  std::uint64_t gone_ms = 0;       ///< since that was first seen
  bool unmanaged = false;          ///< ran before our first start and placement.existing = leave
  bool creation_recorded = false;  ///< we noted in our run directory that we create its groups
  bool assumed = false;  ///< `plan --bundle`: nothing runs; taken as what a Kata of today would do
  std::optional<FixedLayout> fixed;
  bool watched = false;  ///< we saw it before its VMM: what stands now decides nothing yet
  std::vector<Process> processes;  ///< proven, shim first
  std::vector<Process> foreign;    ///< unproven processes found in Kata's scope or in our groups
  std::map<GroupRef, GroupState> groups;  ///< ours, the pod's, Kata's; only existing ones
  std::optional<CgroupPath>
      kata_group;  ///< Kata's own group that holds shim or VMM (scope, kata_<id>)
  std::optional<PendingJob> pending;
  bool kvm_incomplete = false;         ///< KVM knows vCPUs that have not run yet
  std::int64_t created = 0;            ///< seconds since the epoch: start of VMM, else shim
  std::optional<ChargeSample> charge;  ///< v2, once, some time after placement
  std::uint64_t vmm_age_ms = 0;        ///< since the VMM process was made; 0 without a VMM
  History history;
  std::vector<Condition> conditions;  ///< raised while observing (BundleUnreadable, ...)

  [[nodiscard]] const GroupState* group(const GroupRef& ref) const {
    const auto it = groups.find(ref);
    return it == groups.end() ? nullptr : &it->second;
  }
  [[nodiscard]] const Process* first(ProcessRole role) const {
    for (const auto& process : processes)
      if (process.role == role) return &process;
    return nullptr;
  }
};

}  // namespace kcg
