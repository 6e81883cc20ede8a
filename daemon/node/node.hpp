// SPDX-License-Identifier: Apache-2.0
//
// What the rooms of daemon/node share (L9): what is known of the node, and who is to be looked at.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "daemon/follower.hpp"
#include "daemon/log.hpp"
#include "daemon/loop.hpp"
#include "daemon/node/announcer.hpp"
#include "daemon/node/chronicle.hpp"
#include "daemon/node/latencies.hpp"
#include "daemon/node/overheads.hpp"
#include "daemon/node/recent_looks.hpp"
#include "daemon/node/registrations.hpp"
#include "daemon/node/sandboxes.hpp"
#include "daemon/node/scheduler.hpp"
#include "daemon/node/turns.hpp"
#include "daemon/node/waiters.hpp"
#include "daemon/state_store.hpp"
#include "observe/inputs.hpp"
#include "pass/pass.hpp"

namespace kcg {

/// Value: the parts of the world that the daemon works on. All outlive it; `systemd` may be null.
struct World {
  CgroupTree& tree;
  ProcView& proc;
  const Clock& clock;
  SystemdManager* systemd;
  StateStore& store;
  Log& log;
};

/// What root does to a sandbox so soon after a look at it is looked at together.
inline constexpr Instant kRest = std::chrono::milliseconds(20);
/// Until its VMM executes, which is placed at once, nothing of it is in a hurry. Where many start
/// at once Kata takes that long to start a VMM.
inline constexpr Instant kRestBeforeVmm = std::chrono::milliseconds(300);
/// A shim whose VMM has ended cleans up and ends: what it does until then is looked at together.
inline constexpr Instant kShimFollows = std::chrono::milliseconds(100);
/// So long after what was done it is seen whether it holds, if nothing asks for a look before.
inline constexpr Instant kConfirm = std::chrono::milliseconds(100);

/// What may be another than at the last look.
enum class Changed : std::uint8_t {
  anything,
  no_group,  ///< its files, or its tasks
  around,    ///< who is in its groups, or one that Kata has made since
};

/// Resource: see the head of the file.
struct Node final {
  Node(Loop& loop, const World& the_world, Config the_config);
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  /// It is to be looked at. Before the node has been looked at once not all that speaks for a
  /// sandbox is known: nothing is concluded, and its turn comes when that look ends. Only what
  /// executes now is placed at once.
  void dirty(const SandboxId& id, Due why = Due::event, Changed what = Changed::anything);
  /// Root changed its files or its groups. Such things come together: what comes soon after a look
  /// is looked at at once, when the rest is over (see rest()).
  void changed(const SandboxId& id, Changed what = Changed::anything);
  /// This shim of it executed. Until its VMM does, which is heard, nothing of it is in a hurry.
  void shim_started(const SandboxId& id, Pid shim);
  /// No look waits for its rest any more.
  void forget_change(Entry& entry);
  /// It has been looked at. Where nothing tells of what happens it never rests.
  void rest(Entry& entry, Instant rest = kRest) const;
  /// A thread of this process was born, or named itself: if that is all, a glance will do, and
  /// nothing at all where its threads were looked at after that, or do not matter.
  void stirred(const Hint& hint);
  /// Kata's state of it, or the bundle in this directory, was written. While the sandbox rests it
  /// is not read before the next look, or before the rest is over: it is written several times.
  void state_written(const SandboxId& id);
  void bundle_written(const std::string& directory);
  /// Now, whoever rests.
  void read_bundle(const std::string& directory);
  /// What was written while it rested is read before it is looked at.
  void read_unread(const SandboxId& id);
  /// What files say has changed. Who it concerns is looked at, unless nothing comes of it. One that
  /// is half-written is read again soon, and told of when it stays so.
  void absorb(const InputChange& change);
  /// A process calls itself the shim of this sandbox; the next pass drops whoever is not proven.
  /// False: nothing else is known of this id.
  bool add_candidate(const SandboxId& id, Pid pid);

  World world;
  Config config;
  InputStore inputs;
  Sandboxes sandboxes;
  RecentLooks recent;
  Registrations registrations;
  Scheduler scheduler;
  Turns turns;
  Waiters waiters;
  Latencies placements;  ///< from a vCPU thread's birth to its place
  Overheads overheads;
  Chronicle chronicle;
  Announcer announcer;
  Follower* follower = nullptr;                ///< nullptr: nothing is watched
  bool looked = false;                         ///< the first look at the whole node has ended
  std::optional<std::uint64_t> managed_since;  ///< see ObserveContext

 private:
  static void note(Entry& entry, Changed what);
  void enqueue(const SandboxId& id, Due why);
  /// nullptr: it does not rest.
  [[nodiscard]] UnreadFiles* unread_while_resting(const SandboxId& id);
  [[nodiscard]] bool still_wanted(const SandboxId& id);
  void read_later();

  std::optional<Instant> reading_at_;
};

}  // namespace kcg
