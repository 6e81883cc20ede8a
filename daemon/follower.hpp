// SPDX-License-Identifier: Apache-2.0
//
// What the reconciler asks of the sources: follow what belongs to a sandbox (L9).
#pragma once

#include "model/config.hpp"
#include "model/ids.hpp"
#include "model/observed.hpp"
#include "pass/pass.hpp"

namespace kcg {

/// Interface: implemented by Watches, and by nothing in tests of the reconciler.
class Follower {
 public:
  virtual ~Follower() = default;
  /// Watches its processes, its groups and Kata's groups as they were just observed and changed.
  virtual void follow(const SandboxId& id, const Round& last) = 0;
  /// Hears what this one executes, before anything of its sandbox was looked at.
  virtual void expect_vmm(const SandboxId& id, Pid shim) = 0;
  /// Tells when this one has ended, whom a look at the sandbox finds no more.
  virtual void await_end(const SandboxId& id, const TaskKey& process) = 0;
  /// Passes on what is known of groups by now, before a look at them.
  virtual void hear_groups() = 0;
  /// The weights that this round gave to groups are no news, as long as they are still there.
  virtual void wrote(const Round& round) = 0;
  /// What becomes of its threads and is heard of.
  [[nodiscard]] virtual Told told(const SandboxId& id) const = 0;
  virtual void leave(const SandboxId& id) = 0;
  /// What is watched by writing into groups is so only where writes are made.
  virtual void set_mode(Mode mode) = 0;
};

}  // namespace kcg
