// SPDX-License-Identifier: Apache-2.0
//
// What must survive a restart and is not in the kernel (L6), in <run>/kata-cgroupd: the lock, the
// marker of our first start on this boot, registrations, and which sandboxes' groups are just being
// made. Files are written by rename and carry a version and the boot id; others are set aside.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/dir.hpp"
#include "base/result.hpp"
#include "model/bundle.hpp"
#include "model/ids.hpp"

namespace kcg {

/// Resource: holds the directory and the lock.
class StateStore final {
 public:
  /// Makes the directory if needed and takes the lock. EBUSY: another instance holds it.
  [[nodiscard]] static Result<StateStore> open(const std::string& run_directory);

  /// Clock ticks since boot at our first start on this boot; `now_ticks` becomes it if there was
  /// none.
  [[nodiscard]] Result<std::uint64_t> first_start(std::uint64_t now_ticks);

  [[nodiscard]] Result<std::map<SandboxId, Registration>> registrations() const;
  [[nodiscard]] Status save(const std::map<SandboxId, Registration>& registrations);

  /// mkdir and mark are two operations: a group without a mark is ours only if this was noted
  /// before.
  [[nodiscard]] Status note_creation(const SandboxId& id);
  void forget_creation(const SandboxId& id);
  [[nodiscard]] bool creation_noted(const SandboxId& id) const { return creating_.contains(id); }

  /// Texts about files that were set aside, for the log.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  StateStore(Dir dir, Fd lock, std::string boot_id)
      : dir_(std::move(dir)), lock_(std::move(lock)), boot_id_(std::move(boot_id)) {}
  [[nodiscard]] std::optional<std::string> read_checked(const std::string& file) const;
  void load_creations();

  Dir dir_;
  Fd lock_;
  std::string boot_id_;
  std::set<SandboxId> creating_;
  mutable std::vector<std::string> notes_;
};

}  // namespace kcg
