// SPDX-License-Identifier: Apache-2.0
//
// What callers registered (L9): checked against the node before it counts, saved before it is
// acknowledged, and collected when nothing of it is left.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/state_store.hpp"
#include "identify/registrable.hpp"
#include "model/observed.hpp"
#include "proc/view.hpp"

namespace kcg {

/// Resource: see the head of the file.
class Registrations final {
 public:
  /// Which sandbox a process is proven to belong to.
  using OwnerOf = std::function<std::optional<SandboxId>(Pid)>;

  Registrations(StateStore& store, ProcView& proc, Host host, OwnerOf owner_of)
      : store_(store), proc_(proc), host_(std::move(host)), owner_of_(std::move(owner_of)) {}

  /// What survived the restart. What may not be registered (any more) is dropped; why is returned.
  [[nodiscard]] std::vector<std::string> load();
  [[nodiscard]] const std::map<SandboxId, Registration>& all() const { return all_; }

  /// `most`: how many there may be. Errors are ManagerError's, or errno of the file.
  [[nodiscard]] Status set(const SandboxId& id, const Registration& registration, std::size_t most);
  [[nodiscard]] Status drop(const SandboxId& id);
  [[nodiscard]] bool names(const SandboxId& id, Pid pid) const;
  /// Where nothing else is left of a registered sandbox: whom it named and who has not ended yet.
  /// None: its registration is of no use any more. nullopt: something is left, or it has none.
  [[nodiscard]] std::optional<std::vector<TaskKey>> last_of(const SandboxId& id,
                                                            const Observed& observed) const;

 private:
  [[nodiscard]] std::optional<std::string> problem(const SandboxId& id,
                                                   const Registration& registration) const;
  [[nodiscard]] std::optional<RegisteredProcess> look_at(const SandboxId& id, const char* key,
                                                         const TaskKey& task) const;
  [[nodiscard]] std::string other_owner(const SandboxId& id, Pid pid) const;
  void add_descendants(const SandboxId& id, RegisteredProcess& process) const;
  [[nodiscard]] bool ended(const TaskKey& task) const;

  StateStore& store_;
  ProcView& proc_;
  Host host_;
  OwnerOf owner_of_;
  std::map<SandboxId, Registration> all_;
};

}  // namespace kcg
