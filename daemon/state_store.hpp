// SPDX-License-Identifier: Apache-2.0
//
// What must survive a restart and is not in the kernel (L9). In the run directory: the lock, the
// marker of our first start on this boot, registrations, which sandboxes' groups are just being
// made, and what has happened to sandboxes. In the state directory, over boots: what sandboxes have
// used beside their guests. Files are written by rename and carry a version and,
// where it matters, the boot id; others are set aside, and none of them stops a start.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/dir.hpp"
#include "base/result.hpp"
#include "daemon/registration_store.hpp"
#include "measure/survey.hpp"
#include "model/bundle.hpp"
#include "model/ids.hpp"
#include "model/sandbox_history.hpp"
#include "pass/pass.hpp"

namespace kcg {

/// Resource: holds the directory and the lock.
class StateStore final : public CreationNotes {
 public:
  /// Makes the directories if needed and takes the lock. EBUSY: another instance holds it. Without
  /// `state_directory` ("", or it cannot be had) nothing outlives the node's boot.
  [[nodiscard]] static Result<StateStore> open(const std::string& run_directory,
                                               const std::string& state_directory = "");

  /// Clock ticks since boot at our first start on this boot; `now_ticks` becomes it if there was
  /// none.
  [[nodiscard]] std::uint64_t first_start(std::uint64_t now_ticks);

  [[nodiscard]] std::map<SandboxId, Registration> registrations() {
    return registrations_.load(dir_, notes_);
  }
  /// ManagerError::limit_reached: it is too large to be kept. Only after registrations().
  [[nodiscard]] Status save(const SandboxId& id, const Registration& registration) const {
    return registrations_.save(id, registration);
  }
  [[nodiscard]] Status remove(const SandboxId& id) const { return registrations_.remove(id); }

  /// mkdir and mark are two operations: a group without a mark is ours only if this was noted
  /// before.
  [[nodiscard]] Status note_creation(const SandboxId& id) override;
  void forget_creation(const SandboxId& id) override;
  [[nodiscard]] bool creation_noted(const SandboxId& id) const override {
    return creating_.contains(id);
  }

  /// Whose groups were being made.
  [[nodiscard]] const std::set<SandboxId>& creations() const { return creating_; }

  /// What was kept of the sandboxes' events. Only before notes() is read.
  [[nodiscard]] std::vector<SandboxHistory> histories();
  [[nodiscard]] Status keep(const SandboxHistory& history) const;
  [[nodiscard]] Status drop_history(const std::string& id) const;

  /// What was kept of overheads, in the state directory. Only before notes() is read.
  [[nodiscard]] Survey survey();
  [[nodiscard]] Status keep(const Survey& survey) const;

  /// Texts about files that were set aside, for the log.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  StateStore(Dir dir, Fd lock, std::string boot_id)
      : dir_(std::move(dir)),
        lock_(std::move(lock)),
        boot_id_(std::move(boot_id)),
        registrations_(boot_id_) {}
  [[nodiscard]] std::optional<std::uint64_t> read_first_start();
  void load_creations();

  void open_state(const std::string& directory);

  Dir dir_;
  std::optional<Dir> state_;
  Fd lock_;
  std::string boot_id_;
  std::set<SandboxId> creating_;
  RegistrationStore registrations_;
  std::vector<std::string> notes_;
};

}  // namespace kcg
