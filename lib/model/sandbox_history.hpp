// SPDX-License-Identifier: Apache-2.0
//
// What has happened to a sandbox (L1): told to people, never a reason for a decision.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/enums.hpp"

namespace kcg {

enum class EventKind : std::uint8_t { placed, repaired, limit_changed, raised, cleared, ended };
/// "limit-changed".
[[nodiscard]] std::string_view name(EventKind kind);

/// Value: something that happened, once or several times.
struct SandboxEvent {
  EventKind kind = EventKind::placed;
  std::string subject = {};  ///< condition, or the group's file; repaired and "": a thread's place
  std::string group = {};    ///< path of the file's group; of a thread: where it belongs
  std::string from = {};     ///< kernel text; of a thread: the group where it was found
  std::string to = {};       ///< kernel text
  std::string text = {};     ///< of a condition, or what else is known
  Severity severity = Severity::info;  ///< of a condition
  std::int64_t first = 0;              ///< seconds since 1970
  std::int64_t last = 0;
  unsigned times = 1;
  bool operator==(const SandboxEvent&) const = default;
};

/// Value: one sandbox, also after its end.
struct SandboxHistory {
  std::string id;
  std::string pod_namespace, pod_name;
  Engine engine = Engine::none;
  std::string pod_cgroup, sandbox_cgroup;
  std::int64_t created = 0;  ///< seconds since 1970; 0: not known
  std::int64_t ended = 0;    ///< 0: it lives
  std::string handler;
  std::uint64_t overhead_declared = 0;  ///< bytes; 0: not known
  std::uint64_t overhead_peak = 0;      ///< bytes, of the VM below; 0: not known
  std::uint64_t vmm_start = 0;          ///< clock ticks since boot
  std::uint64_t guest_ram = 0;          ///< bytes, when the peak was measured; 0: not known
  std::vector<SandboxEvent> events;     ///< the one that happened last stands last
  bool operator==(const SandboxHistory&) const = default;
};

}  // namespace kcg
