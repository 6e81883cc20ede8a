// SPDX-License-Identifier: Apache-2.0
//
// What is remembered beside plain facts (L4): one part for each concern. A part knows when it wants
// its sandbox looked at again; nullopt: nothing is waited for.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/flat_set.hpp"
#include "base/rare.hpp"
#include "model/fields.hpp"
#include "model/host.hpp"
#include "model/observed.hpp"
#include "model/process.hpp"

namespace kcg {

/// A step that fails when its sandbox ends fails for no longer than this.
inline constexpr Instant kEndGrace = std::chrono::milliseconds(500);
/// By then a VMM shows its vCPUs; one that fills huge pages first, or whose processor is emulated,
/// takes seconds.
inline constexpr Instant kVcpuGrace = std::chrono::seconds(5);
/// Longer than any ordinary end of a VMM that was seen.
inline constexpr Instant kVmmEndGrace = std::chrono::seconds(15);
/// systemd ends every job, or answers, long before this; a bus that was lost does neither.
inline constexpr Instant kJobTimeout = std::chrono::seconds(90);
inline constexpr unsigned kRemovalTries = 10;
/// A task that is still being created refuses to be moved.
inline constexpr unsigned kMoveTries = 5;

/// The earlier one, if any.
[[nodiscard]] std::optional<Instant> earlier(std::optional<Instant> a, std::optional<Instant> b);

/// Value: what is counted: "cpu.max" of a group, or "task 123" of nobody's.
struct HealKey {
  std::string what;
  CgroupPath group = {};
  auto operator<=>(const HealKey&) const = default;
};

/// Value: how often somebody undid what we wrote.
struct Contest {
  std::string found;           ///< what somebody had put there last
  std::vector<Instant> times;  ///< when it was found undone, in the last 60 s
  unsigned row = 0;            ///< passes in a row that found it undone
  Instant quiet_until{0};      ///< contested: not before this
  Instant delay{0};
  bool operator==(const Contest&) const = default;
};

/// Value: what we last wrote to one file, or made of one thread.
struct HealCount {
  std::string written;      ///< the file's text; the thread's class
  HierarchyName hierarchy;  ///< of the file's group: both are forgotten together; "": a thread's
  Instant last{0};          ///< when we wrote it
  bool held = false;        ///< it was seen as we wrote it
  Rare<Contest> contest;
  bool operator==(const HealCount&) const = default;
};

using HealCounts = std::map<HealKey, HealCount>;

template <class Bytes, PartLike<HealKey> Part>
void fields(Bytes& bytes, Part& part) {
  auto& [what, group] = part;
  bytes(what, group);
}

template <class Bytes, PartLike<Contest> Part>
void fields(Bytes& bytes, Part& part) {
  auto& [found, times, row, quiet_until, delay] = part;
  bytes(found, times, row, quiet_until, delay);
}

template <class Bytes, PartLike<HealCount> Part>
void fields(Bytes& bytes, Part& part) {
  auto& [written, hierarchy, last, held, contest] = part;
  auto whole = contest.get();
  bytes(written, hierarchy, last, held, whole);
  if constexpr (!std::is_const_v<Part>)
    contest.change([&](Contest& one) { one = std::move(whole); });
}

/// Value: all of a sandbox, packed: most of it is paths of groups.
class Heals final {
 public:
  Heals() = default;
  explicit Heals(const HealCounts& counts);

  [[nodiscard]] HealCounts counts() const { return packed_.whole(); }
  /// Whether there is a Contest among them.
  [[nodiscard]] bool contested() const { return contested_; }
  /// When the next contested thing may be tried again.
  [[nodiscard]] std::optional<Instant> wake(Instant now) const;
  bool operator==(const Heals&) const = default;

 private:
  Packed<HealCounts> packed_;
  bool contested_ = false;
};

/// Value: what became of the VMM, as far as was seen.
struct VmmLife {
  Pid pid = 0;              ///< 0: none was seen
  bool state_seen = false;  ///< Kata had state for it
  std::optional<Instant> ended;
  std::int64_t ended_wall = 0;  ///< seconds since the epoch; 0: before anybody looked
  /// When it will be clear that Kata did not want its end.
  [[nodiscard]] std::optional<Instant> wake(Instant now) const;
  bool operator==(const VmmLife&) const = default;
};

/// Value: what systemd was asked for and has not done yet.
struct ScopeTries {
  std::optional<PendingJob> pending;
  unsigned tries = 0;
  Instant asked{0};
  Instant due{0};       ///< not asked again before
  std::string problem;  ///< why it was not done, in systemd's words, or could not be asked for
  /// From then on it is said: a refusal at once, what only takes long after a while.
  std::optional<Instant> told_from;
  [[nodiscard]] std::optional<Instant> wake(Instant now) const;
  bool operator==(const ScopeTries&) const = default;
};

/// Value: how often in a row the kernel has refused what it grants a moment later.
struct Retries {
  unsigned removals = 0;
  unsigned moves = 0;        ///< EINVAL: the task was still being created
  bool end_is_told = false;  ///< v2: who leaves a group last is heard of
  [[nodiscard]] std::optional<Instant> wake(Instant now) const;
  bool operator==(const Retries&) const = default;
};

/// Value: looks in a row at which something could not be read.
struct Unread {
  unsigned tries = 0;
  Instant since{0};  ///< of the first of them
  [[nodiscard]] std::optional<Instant> wake(Instant now) const;
  bool operator==(const Unread&) const = default;
};

/// Value: steps that may have failed by an end. Who else was in their way may go, which nobody
/// tells.
struct Failures {
  std::map<std::string, Instant> since;  ///< by step
  [[nodiscard]] std::optional<Instant> wake(Instant now) const;
  bool operator==(const Failures&) const = default;
};

/// Value: processes and threads that are not as they should be, since when.
struct Unrest {
  std::optional<Instant> restless_since;   ///< threads have moved in each round since
  std::optional<Instant> vcpuless_since;   ///< the VMM has shown no vCPU since
  std::optional<Instant> strangers_since;  ///< there are some: that they leave is told to nobody
  [[nodiscard]] std::optional<Instant> wake(Instant now) const;
  bool operator==(const Unrest&) const = default;
};

/// Value: the VMM's threads that nothing has named yet, and what is known beside them.
struct UnnamedThreads {
  FlatSet<TaskKey> keys;
  bool any_vcpu = false;
  bool vcpus_have_names = false;  ///< the VMM names them: that of a further one will be told
  bool kvm_incomplete = false;    ///< KVM knows a vCPU whose thread it does not know yet
  bool vcpus_missing = false;     ///< and we neither
  Told told;
  void add(const TaskKey& key, ThreadClass cls, ClassSource by, bool named_vcpu);
  /// Whatever becomes of them will be heard of.
  [[nodiscard]] bool all_told() const {
    const bool vcpus = vcpus_have_names || (any_vcpu && told.vcpus);
    return vcpus && told.threads && !kvm_incomplete;
  }
  /// KVM tells of the next vCPU, if it is KVM that runs the VM.
  [[nodiscard]] bool kvm_tells() const { return told.vcpus && told.threads && !vcpus_missing; }
};

/// Value: VMM threads that nothing has named yet.
struct Unnamed {
  FlatSet<TaskKey> threads;
  unsigned looks = 0;  ///< how often they were looked at again
  Instant since{0};
  std::optional<Instant> due;  ///< the next time; nullopt: not before an event says so
  /// Notes what was seen and when it is looked at again: after 1 ms and then twice as long as
  /// before, up to 500 ms; where vCPUs have names after 4 ms and half a second, where KVM would
  /// tell of one after half a second, and not at all where all is told. A vCPU that KVM knows but
  /// that has not run yet, and a VMM that shows none, for as long, with doubling delay: that a vCPU
  /// runs is told to nobody.
  void plan_look(UnnamedThreads found, Instant now);
  [[nodiscard]] std::optional<Instant> wake(Instant /*now*/) const { return due; }
  bool operator==(const Unnamed&) const = default;
};

/// Value: v2: where the memory of the sandbox is charged is looked at once.
struct ChargeLook {
  std::optional<Instant> due;
  bool seen = false;
  [[nodiscard]] std::optional<Instant> wake(Instant /*now*/) const { return due; }
  bool operator==(const ChargeLook&) const = default;
};

}  // namespace kcg
