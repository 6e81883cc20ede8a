// SPDX-License-Identifier: Apache-2.0
//
// One sandbox as it is right now (L1): what was said about it, its processes, its groups. Made by
// observe/, read by plan/. Everything that desired() and diff() know is in here.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "model/bundle.hpp"
#include "model/cgroups_path.hpp"
#include "model/condition.hpp"
#include "model/devices.hpp"
#include "model/history.hpp"
#include "model/host.hpp"
#include "model/process.hpp"
#include "model/usage.hpp"

namespace kcg {

/// A VMM may start its vCPUs until then: Kata does after 30 ms, on a slow node later.
inline constexpr std::uint64_t kYoungMs = 500;

/// Value: one existing cgroup directory with what was read from it.
struct GroupState {
  GroupRef ref;
  std::optional<std::string> mark;  ///< sandbox id; a text that is none: another daemon's group
  bool mark_earlier = false;        ///< in the earlier form: to be written anew
  bool occupied = false;            ///< unmarked where we noted that we make it, and not empty
  std::map<std::string, std::string, std::less<>> files;  ///< trimmed, of those asked for
  DevicePolicy devices;                                   ///< v2, of Kata's group and of ours
  bool operator==(const GroupState&) const = default;

  [[nodiscard]] std::optional<std::string> file(std::string_view key) const {
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
  std::uint64_t touched = 0;           ///< bytes, by its processes
  std::optional<std::uint64_t> group;  ///< bytes of it charged to the sandbox's group
  bool operator==(const ChargeSample&) const = default;
};

/// Value: what becomes of a sandbox and is heard of without a look.
struct Told {
  bool threads = false;  ///< new ones, and new names
  bool vcpus = false;    ///< that KVM comes to know one
  bool groups = false;   ///< that others write to ours, or make or place something in Kata's
  bool operator==(const Told&) const = default;
};

/// Value: see the head of the file.
struct Observed {
  Host host;
  SandboxInputs inputs;
  Result<CgroupsPath> cgroups_path = fail(0, "nobody has looked");  ///< the one that counts
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
  Instant groups_since{0};                ///< what happened to groups before this was seen
  Instant above_since{0};                 ///< likewise, to those above the pod's
  /// None of ours stands where another layout than this would have it. nullopt: not looked for.
  std::optional<Layout> only_layout;
  std::optional<PendingJob> pending;
  bool kvm_incomplete = false;          ///< KVM knows vCPUs that have not run yet
  bool vcpus_missing = false;           ///< KVM knows vCPUs whose threads are not known
  std::string kvm_directory;            ///< of its VM in debugfs; "": there is none
  Told told;                            ///< since before its threads were read
  Instant threads_since{0};             ///< what happened to threads before this was seen
  bool threads_alone = false;           ///< the rest is what the look before has seen and done
  std::int64_t created = 0;             ///< seconds since the epoch: start of VMM, else shim
  std::optional<ChargeSample> charge;   ///< v2, once, some time after placement
  OverheadMeasured measured;            ///< by then; a look measures nothing
  std::optional<NearLimit> near_limit;  ///< likewise
  std::uint64_t vmm_age_ms = 0;         ///< since the VMM process was made; 0 without a VMM
  History history;
  /// What exists and could not be read, and why. Nothing is concluded from it: nothing is removed,
  /// lifted or taken for ended. Of groups nothing is changed either.
  std::vector<std::string> unread_groups;
  std::vector<std::string> unread_processes;
  std::vector<Condition> conditions;  ///< raised while observing (BundleUnreadable, ...)

  [[nodiscard]] bool unread() const { return !unread_groups.empty() || !unread_processes.empty(); }
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

/// True when a group of this sandbox is known that carries our mark.
[[nodiscard]] bool carries_mark(const Observed& observed);

/// True where Kata's state says that the VMM lives inside the shim, or on another node.
[[nodiscard]] bool vmm_elsewhere(const SandboxInputs& inputs);

/// True once the layout is to be fixed: the VMM executed, or lives elsewhere.
[[nodiscard]] bool vmm_started(const Observed& observed);

}  // namespace kcg
