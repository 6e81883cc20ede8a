// SPDX-License-Identifier: Apache-2.0
//
// Which sandboxes there are, and whose a process or a unit of systemd is (L9, pure).
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/flat_set.hpp"
#include "base/result.hpp"
#include "daemon/node/scheduler.hpp"
#include "daemon/node/timer.hpp"
#include "measure/track.hpp"
#include "model/fields.hpp"
#include "model/ids.hpp"
#include "model/sandbox_history.hpp"
#include "model/stirred.hpp"
#include "observe/usage.hpp"
#include "pass/glance.hpp"
#include "pass/pass.hpp"
#include "record/record.hpp"

namespace kcg {

/// Value: what somebody has asked for, and when.
struct AskedCounters {
  GroupCounters counters;
  Instant at{0};
};

/// Value: files of a sandbox that were written while it rests, and are not read yet.
struct UnreadFiles {
  Timer due{};                    ///< when they are, if nothing asks for a look before
  bool state = false;             ///< Kata's
  std::set<std::string> bundles;  ///< by directory
};

/// Value: one sandbox between passes. There may be thousands: what few of them have is not in it.
struct Entry {
  Record record;
  Packed<SandboxView> view;  ///< last published, without threads
  bool published = false;
  std::vector<Condition> told;            ///< the conditions that the journal has heard of
  std::vector<SandboxEvent> happened;     ///< since the chronicle was told
  bool worked_on = false;                 ///< we have placed something of it
  bool placed_untold = false;             ///< all of it is in its place, and its vCPUs have not run
  std::optional<Instant> last_vcpu_took;  ///< from a vCPU's start until it was placed
  PassProgress so_far;                    ///< of a pass that is not finished
  std::optional<Due> news;          ///< the most urgent since a part of what it goes by was read
  std::optional<Instant> heard;     ///< of the first news since it was looked at
  bool look_due = true;             ///< a glance at the threads will not do
  bool groups_told = true;          ///< its groups may have changed since they were read
  bool around_told = false;         ///< see Changed::around
  Instant rests_until{0};           ///< see Node::changed
  std::optional<Timer> change_due;  ///< of a look that waits until then
  std::unique_ptr<UnreadFiles> unread_files;  ///< nullptr: none
  std::optional<Glance> glance;
  Stirred stirred;                       ///< threads that were heard of since
  FlatSet<TaskKey> counted;              ///< vCPU threads that live and whose placing was counted
  unsigned failures = 0;                 ///< passes in a row
  bool over = false;                     ///< the last pass has left nothing of it
  bool followed = false;                 ///< what its processes do is watched
  Measuring measuring;                   ///< of its VM
  std::optional<MemoryCeiling> ceiling;  ///< of its memory, when it was looked at
  OverheadTrack overhead;                ///< what has been measured of it
  std::unique_ptr<AskedCounters> asked;  ///< nullptr: nobody has asked for them
  bool adopted = false;                  ///< placed although it ran before our first start
  std::vector<Pid> owned;                ///< processes that were proven to be its own
};

/// Resource: see the head of the file.
class Sandboxes final {
 public:
  [[nodiscard]] Entry* find(const SandboxId& id);
  [[nodiscard]] const Entry* find(const SandboxId& id) const;
  /// Made if there is none.
  [[nodiscard]] Entry& get(const SandboxId& id) { return entries_[id]; }
  [[nodiscard]] const std::map<SandboxId, Entry>& all() const { return entries_; }
  [[nodiscard]] std::vector<SandboxId> published() const;
  /// Drops it, and all that was its own; returns its processes.
  std::vector<Pid> drop(const SandboxId& id);

  /// A full id of one that was published, or the only one that begins with `text`, of at least 4
  /// characters. Errors: ManagerError::no_such_sandbox, ManagerError::ambiguous_id.
  [[nodiscard]] Result<SandboxId> resolve(const std::string& text) const;

  /// Whose proven process this is, or whose shim it says it is; see own().
  [[nodiscard]] std::optional<SandboxId> owner(Pid pid) const;
  /// Until the next look at it this one is its own, if it is nobody's.
  void own(const SandboxId& id, Entry& entry, Pid pid);
  /// Its own processes are those of its record now; returns those that are so no more.
  std::vector<Pid> index(const SandboxId& id, Entry& entry);

  /// systemd was asked for this unit.
  void await_unit(const std::string& unit, const SandboxId& id);
  /// systemd has answered: who waited for it; nullopt: nobody.
  [[nodiscard]] std::optional<SandboxId> answered(const std::string& unit);

 private:
  std::map<SandboxId, Entry> entries_;
  std::map<Pid, SandboxId> owner_;
  std::map<std::string, SandboxId, std::less<>> units_;
};

/// The only one of them that begins with `text`; the same errors.
[[nodiscard]] Result<SandboxId> only_one(std::vector<SandboxId> ids, const std::string& text);

}  // namespace kcg
