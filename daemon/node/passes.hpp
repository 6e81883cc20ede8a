// SPDX-License-Identifier: Apache-2.0
//
// A sandbox's turn (L9): a glance at its threads or a pass (lib/pass), and what follows from it.
#pragma once

#include "daemon/node/node.hpp"

namespace kcg {

/// Resource: see the head of the file. The node outlives it.
class Passes final {
 public:
  explicit Passes(Node& node) : node_(node), began_(node.world.clock.now()) {}

  void pass(const SandboxId& id, Due why);
  /// What a pass would do now; nothing is done, and nothing remembered.
  [[nodiscard]] Round look(const SandboxId& id, const Entry& entry) const;

 private:
  [[nodiscard]] Glanced glance(const SandboxId& id, Due why);
  [[nodiscard]] bool groups_hold(const SandboxId& id, Entry& entry, const LastLook& last);
  [[nodiscard]] PassResult run(const SandboxId& id, Due why, Entry& entry,
                               const Assembled& assembled, const ThreadsRead& read);
  void look_later(const SandboxId& id, Entry& entry, const PassResult& result);
  void count_placements(Entry& entry, const Round& round, std::optional<Instant> heard);
  void hear_groups(const SandboxId& id, Entry& entry);
  void track(const SandboxId& id, Entry& entry, const Round& last);
  void tell(const SandboxId& id, Entry& entry, const PassResult& result);
  void forget(const SandboxId& id);
  void collect_registration(const SandboxId& id, const Observed& observed);
  void give_memory_back();
  [[nodiscard]] PassWorld pass_world() const;
  [[nodiscard]] PassOrder order(const SandboxId& id, const Entry& entry,
                                const Assembled& assembled) const;
  [[nodiscard]] Told told(const SandboxId& id) const;

  Node& node_;
  Instant began_;
  bool trim_waits_ = false;
};

}  // namespace kcg
