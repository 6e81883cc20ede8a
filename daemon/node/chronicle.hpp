// SPDX-License-Identifier: Apache-2.0
//
// What has happened to the sandboxes, for people (L9). It is in memory and, a second later, in the
// run directory, so that it outlives the daemon and is there when a pod is gone. Nothing is decided
// by it; if it cannot be written, it is told once in a while and the work goes on.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "daemon/log.hpp"
#include "daemon/manager.hpp"
#include "daemon/node/overheads.hpp"
#include "daemon/node/turns.hpp"
#include "daemon/state_store.hpp"
#include "history/histories.hpp"

namespace kcg {

/// Resource: see the head of the file. All that it is given outlives it.
class Chronicle final {
 public:
  /// `overheads`: where what ended sandboxes have used is counted.
  Chronicle(StateStore& store, const Clock& clock, Log& log, Turns& turns, Overheads& overheads);
  ~Chronicle();
  Chronicle(const Chronicle&) = delete;
  Chronicle& operator=(const Chronicle&) = delete;

  /// Who hears of each event; nullptr: nobody.
  void set_publisher(Publisher* publisher) { publisher_ = publisher; }

  /// What earlier daemons have kept.
  void restore();
  void seen(const SandboxView& view);
  void note(const std::string& id, std::vector<SandboxEvent> events);
  /// See Histories::overhead(); `ram`: RAM that the VM has, asked where it is kept.
  void overhead(const std::string& id, std::uint64_t vmm_start, std::uint64_t peak,
                const std::function<std::optional<std::uint64_t>()>& ram);
  void ended(const std::string& id);
  /// The whole node has been looked at: who lived before and is none of these ended unseen.
  void all_seen(const std::vector<SandboxId>& living);

  [[nodiscard]] const Histories& histories() const { return histories_; }

 private:
  void end(const std::string& id, const std::string& how);
  void tell_last(const std::string& id);
  void write_later(Instant when);
  void write();
  [[nodiscard]] bool write_one(const std::string& id);

  StateStore& store_;
  const Clock& clock_;
  Log& log_;
  Turns& turns_;
  Overheads& overheads_;
  Publisher* publisher_ = nullptr;
  Histories histories_;
  std::set<std::string> unwritten_;
  bool waits_ = false;
};

}  // namespace kcg
