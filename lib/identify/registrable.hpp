// SPDX-License-Identifier: Apache-2.0
//
// What may be registered (L3): root names processes and a path, and a slip of the hand must not
// move the node's own processes. Pure; docs/dbus.md tells it to callers.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/bundle.hpp"
#include "model/observed.hpp"

namespace kcg {

/// Value: what is known of a process that a registration names.
struct RegisteredProcess {
  std::string key;  ///< "ShimPidFd", "VmmPidFd"
  TaskKey task;
  bool kernel_thread = false;
  bool same_pid_ns = true;
  bool ours = false;  ///< the daemon itself, or one of its ancestors
  /// The other sandbox that it, or a process below it, is known to belong to; "" if there is none.
  std::string other_sandbox;
  /// Processes below it; counted up to kMostDescendants + 1.
  std::size_t descendants = 0;
};

/// A shim with its VMM, virtiofsd and what they started has a handful.
inline constexpr std::size_t kMostDescendants = 64;

/// Value: what the decision needs beside the registration.
struct RegistrationFacts {
  std::vector<RegisteredProcess> processes;  ///< those that still run
  std::vector<std::string> own_groups;       ///< the daemon's, in each hierarchy
};

/// Why a registration is refused, for people; nullopt: it is acceptable.
[[nodiscard]] std::optional<std::string> registration_problem(const Registration& registration,
                                                              const RegistrationFacts& facts);

/// Whatever was registered has come to its end, as far as this look goes: it named processes, and
/// there is neither bundle nor group nor any process left. The caller makes sure that the named
/// ones have ended: one that could not be read is missing here, too.
[[nodiscard]] bool nothing_left(const Observed& observed);

}  // namespace kcg
