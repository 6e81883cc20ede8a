// SPDX-License-Identifier: Apache-2.0
//
// What has happened to all sandboxes (L4), bounded: the last events of each, and the last sandboxes
// that have ended. What happens again counts up the event that it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "history/condition_news.hpp"
#include "model/fields.hpp"
#include "model/observed.hpp"
#include "model/plan.hpp"
#include "model/repair.hpp"
#include "model/sandbox_history.hpp"
#include "model/view.hpp"

namespace kcg {

/// Value: see the head of the file.
class Histories final {
 public:
  static constexpr std::size_t kMostEvents = 50;  ///< of one sandbox
  static constexpr std::size_t kMostEnded = 200;

  /// What was known before a restart.
  void restore(SandboxHistory history);
  /// It lives, and this is who it is. One that had ended has come back.
  void seen(const SandboxView& view);
  /// False: it is dropped, for nobody has seen the sandbox. Else the last of its events is this
  /// one.
  bool note(const std::string& id, SandboxEvent event);
  /// The most that the VM whose VMM began at `vmm_start` has used beside its guest. What grows by
  /// little is not kept each time: false, it was not.
  bool overhead(const std::string& id, std::uint64_t vmm_start, std::uint64_t peak);
  /// RAM that the VM had then, in bytes; 0: not known.
  void guest_ram(const std::string& id, std::uint64_t bytes);
  /// nullopt: of this VM none is known.
  [[nodiscard]] std::optional<std::uint64_t> overhead_peak(const std::string& id,
                                                           std::uint64_t vmm_start) const;
  /// Nothing more will happen to it. False: that was known, or nobody has seen it.
  bool ended(const std::string& id, std::int64_t wall_seconds, const std::string& text = "");

  [[nodiscard]] std::optional<SandboxHistory> find(const std::string& id) const;
  /// The same without its events.
  [[nodiscard]] std::optional<SandboxHistory> who(const std::string& id) const;
  /// Of all that are remembered, sorted.
  [[nodiscard]] std::vector<std::string> ids() const;
  /// Those that have not ended, by id, without their events.
  [[nodiscard]] std::map<std::string, SandboxHistory> living() const;
  /// Those that are not as they were at the last call: changed, come, or dropped.
  [[nodiscard]] std::set<std::string> take_changed();

 private:
  /// Value: one sandbox. Its events may be many, and are asked for seldom.
  struct Kept {
    Packed<SandboxHistory> who;  ///< without events
    Packed<std::vector<SandboxEvent>> events;
  };
  using All = std::map<std::string, Kept>;
  /// `change` is given who it is, and says whether it has changed that.
  template <class Change>
  bool change(All::iterator known, const Change& change);
  /// 0: it lives.
  void set_ended(SandboxHistory& history, std::int64_t wall_seconds);
  void drop_oldest_ended();

  All all_;
  std::set<std::pair<std::int64_t, std::string>> ended_;  ///< when, and who; the oldest first
  std::set<std::string> changed_;
};

/// What a pass did to one that was placed before: repairs, and limits that became others.
[[nodiscard]] std::vector<SandboxEvent> events_of(const Report& report,
                                                  const std::vector<Repair>& repairs,
                                                  std::int64_t wall_seconds);
[[nodiscard]] SandboxEvent event_of(const ConditionNews& news, std::int64_t wall_seconds);
/// Whether its VMM has started its vCPUs; it is not young any more where nothing tells which these
/// are.
[[nodiscard]] bool vcpus_run(const Observed& observed);
/// All of it is in its place. `took`: from the start of its last vCPU, if that was seen.
[[nodiscard]] SandboxEvent placed_event(const Observed& observed, std::optional<Instant> took,
                                        std::int64_t wall_seconds);

}  // namespace kcg
