// SPDX-License-Identifier: Apache-2.0
//
// Who is next (L9, pure: no I/O, and the time is told). Five lanes: placements, changes, events,
// the background look, and jobs over the whole node. Within a lane sandboxes wait in the order in
// which they became due; a lane that is overtaken for too long gets its turn, so none starves
// another.
//
// The background lane of jobs, for whoever wants something of the whole node (a resync, a plan of
// all sandboxes): a job is a function that does a slice of its work, a few milliseconds, and says
// whether there is more. One job at a time is worked on, one slice per turn, behind placements.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "daemon/node/budget.hpp"
#include "model/ids.hpp"

namespace kcg {

/// Why a sandbox is to be looked at, most urgent first.
enum class Due : std::uint8_t {
  placement,   ///< a VMM executed, or a shim that does not wait for one: memory is about to be
               ///< touched where it must not be. Or a thread came of one that was placed a moment
               ///< ago, a vCPU as a rule
  change,      ///< root's doing, which no guest can repeat: Kata or the engine wrote its files,
               ///< somebody wrote to its groups, systemd answered, its shim or VMM ended
  event,       ///< something said that it changed, or its own timer ran out
  background,  ///< the resync's turn
};

/// As the log says it.
[[nodiscard]] std::string_view name(Due why);

/// One slice of a job: true = there is more.
using JobSlice = std::function<bool()>;

/// Value: what to do next: a pass of this sandbox, or (none) a slice of the job at the head.
struct Turn {
  std::optional<SandboxId> sandbox;
  Due why = Due::event;
};

/// Resource: see the head of the file.
class Scheduler final {
 public:
  /// Queues a pass, once: what is queued already only becomes more urgent. A sandbox whose passes
  /// have cost too much waits until its budget allows one; changes and the background look always
  /// go.
  void due(const SandboxId& id, Due why, Instant now);
  /// A pass that is not finished goes on, behind the others of its lane.
  void resume(const SandboxId& id, Due why) { enqueue(id, sandboxes_[id], why); }
  /// Its passes fail: hints cause none before `until`.
  void hold(const SandboxId& id, Instant until) { sandboxes_[id].held = until; }
  /// A whole look has been taken: what the background owed it has come.
  void looked(const SandboxId& id);
  /// It had its turn, and a glance did: the background look that an event came before is still to
  /// come, at its old place.
  void glanced(const SandboxId& id);
  /// What was heard so far needs no pass of its own: one that sees it is under way.
  void covered(const SandboxId& id);
  /// The sandbox's one timer; nullopt: none.
  void wake(const SandboxId& id, std::optional<Instant> when);
  /// What a pass has cost.
  void charge(const SandboxId& id, Due why, Instant cpu, Instant now);
  /// How much CPU time background looks may take until this is said again: what is over waits for
  /// that. nullopt: as much as they need. Those that wait without a bound are not bounded.
  void allow_background(std::optional<Instant> cpu);
  /// Somebody who may asked for it: what it has cost so far is forgiven, and nothing holds it.
  void pardon(const SandboxId& id);
  /// Nothing is known of this id any more.
  void forget(const SandboxId& id);

  void add_job(JobSlice job) { jobs_.push_back(std::move(job)); }
  /// Before the jobs that wait already.
  void add_urgent_job(JobSlice job) { jobs_.push_front(std::move(job)); }
  [[nodiscard]] std::size_t jobs() const { return jobs_.size(); }
  /// Works on the job at the head. One that throws is dropped.
  void run_job();

  /// Takes the next turn off the queue; nullopt: nothing is due.
  [[nodiscard]] std::optional<Turn> next(Instant now);
  /// When next() will have something; nullopt: not before somebody says so.
  [[nodiscard]] std::optional<Instant> next_at(Instant now) const;

 private:
  static constexpr std::size_t kLanes = 4;      ///< of sandboxes
  static constexpr std::size_t kJobs = kLanes;  ///< the lane of jobs
  /// Value: one sandbox.
  struct Sandbox {
    std::optional<Due> lane;            ///< where it waits
    std::uint64_t ticket = 0;           ///< its place there
    std::optional<std::uint64_t> owed;  ///< its place in the background lane, while in another one
    std::optional<Instant> wakes;
    Instant held{0};
    Budget budget;
  };
  void enqueue(const SandboxId& id, Sandbox& sandbox, Due why);
  void leave_lane(Sandbox& sandbox);
  void wake_due(Instant now);
  [[nodiscard]] bool waiting(std::size_t lane) const;
  [[nodiscard]] const auto& background() const {
    return lanes_[static_cast<std::size_t>(Due::background)];
  }
  [[nodiscard]] std::optional<std::size_t> choose();

  std::map<SandboxId, Sandbox> sandboxes_;
  std::array<std::map<std::uint64_t, SandboxId>, kLanes> lanes_;  ///< by ticket
  std::set<std::pair<Instant, SandboxId>> sleeping_;
  std::deque<JobSlice> jobs_;
  std::optional<Instant> background_left_;        ///< nullopt: no bound
  std::array<unsigned, kLanes + 1> overtaken_{};  ///< how often in a row, by lane
  std::uint64_t tickets_ = 0;
};

}  // namespace kcg
