// SPDX-License-Identifier: Apache-2.0
//
// What journal, bus and chronicle are told of sandboxes (L9): each difference once.
#pragma once

#include <array>
#include <cstdint>

#include "daemon/log.hpp"
#include "daemon/manager.hpp"
#include "daemon/node/chronicle.hpp"
#include "daemon/node/sandboxes.hpp"

namespace kcg {

/// Resource: see the head of the file. All that it is given outlives it.
class Announcer final {
 public:
  Announcer(Log& log, const Clock& clock, Chronicle& chronicle)
      : log_(log), clock_(clock), chronicle_(chronicle) {}
  /// nullptr: nobody listens on a bus.
  void set_publisher(Publisher* publisher) {
    publisher_ = publisher;
    chronicle_.set_publisher(publisher);
  }

  /// What one round of a pass has done.
  void done(const SandboxId& id, Entry& entry, const Round& round, Mode mode);
  /// What a sandbox is like after a pass.
  void seen(const SandboxId& id, Entry& entry, const Round& last);
  /// A pass failed: what was told stays as it was, but for the trouble.
  void failed(const SandboxId& id, Entry& entry);
  /// Compared with what was told, not with the last pass: one that breaks off tells nothing.
  void conditions(const SandboxId& id, Entry& entry);
  void gone(const SandboxId& id);
  /// How often each was raised, or happened again, since the start; in the order of their names.
  [[nodiscard]] const std::array<std::uint64_t, kConditionCount>& raised() const { return raised_; }

 private:
  void publish(const Packed<SandboxView>& before, const SandboxView& now, bool first);
  void report(const SandboxId& id, const Report& report);
  void repairs(const SandboxId& id, const std::vector<Repair>& repairs);

  Log& log_;
  const Clock& clock_;
  Chronicle& chronicle_;
  Publisher* publisher_ = nullptr;
  std::array<std::uint64_t, kConditionCount> raised_{};
};

}  // namespace kcg
