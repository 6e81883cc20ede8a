// SPDX-License-Identifier: Apache-2.0
//
// What the bus service asks of the daemon, and what the daemon tells it (L9).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "daemon/log.hpp"
#include "daemon/node/latencies.hpp"
#include "model/bundle.hpp"
#include "model/config.hpp"
#include "model/host.hpp"
#include "model/sandbox_history.hpp"
#include "model/usage.hpp"
#include "model/view.hpp"

namespace kcg {

/// Error codes beside errno that the bus maps to its own error names.
enum class ManagerError : int {
  no_such_sandbox = 100000,
  ambiguous_id,
  invalid_argument,
  limit_reached,
  observe_only,
  config
};

/// Value: facts about the daemon itself.
struct DaemonInfo {
  std::string version;
  Mode mode = Mode::enforce;
  HierarchyMode hierarchy = HierarchyMode::v2;
  std::vector<std::string> features;
  std::string log_target;  ///< "journal" or "console"
};

/// Value: one registration, without what it says of limits and annotations.
struct RegisteredView {
  std::string id;
  PodName pod;
  std::string cgroups_path;  ///< "" if it was not given
  Pid shim_pid = 0;
  Pid vmm_pid = 0;
  std::int64_t since = 0;  ///< seconds since 1970; 0: not known
  std::uint32_t uid = 0;
  bool operator==(const RegisteredView&) const = default;
};

/// A shorter beginning of an id is no name.
inline constexpr std::size_t kShortestPrefix = 4;

/// Interface: implemented by daemon/node/api. `id` may be a full id or an unambiguous prefix of at
/// least kShortestPrefix characters unless said otherwise; "" = all where allowed.
class Manager {
 public:
  virtual ~Manager() = default;
  [[nodiscard]] virtual DaemonInfo daemon_info() const = 0;
  /// "<part>: <text>" of each part of the daemon that does not work as it should, sorted.
  [[nodiscard]] virtual std::vector<std::string> problems() const = 0;
  /// How each source of events and each link is: "working", "fallback", "down" or "off", by name.
  [[nodiscard]] virtual std::map<std::string, std::string> parts() const = 0;
  /// How long vCPU threads have waited for their place, since the start.
  [[nodiscard]] virtual LatencyFacts placement_times() const = 0;
  /// How often each condition was raised, or happened again, since the start; by name, also 0.
  [[nodiscard]] virtual std::map<std::string, std::uint64_t> conditions_raised() const = 0;
  /// The last published views, sorted by id, without threads.
  [[nodiscard]] virtual std::vector<SandboxView> list(bool with_ignored) const = 0;
  /// Sorted by id.
  [[nodiscard]] virtual std::vector<RegisteredView> registered() const = 0;
  /// Bytes that the sandbox's group uses, read now; nullopt: not known. `id` is a full one here.
  [[nodiscard]] virtual std::optional<std::uint64_t> memory_used(const std::string& id) const = 0;
  /// What it used when it was measured last. `id` is a full one here.
  [[nodiscard]] virtual Measured measured(const std::string& id) const = 0;
  /// What was measured last, and counters that are at most measure.interval old. `id` is a full one
  /// here; nullopt: no such sandbox, or nothing is measured.
  [[nodiscard]] virtual std::optional<SandboxUsage> usage(const std::string& id) = 0;
  /// Observed afresh, with threads and groups.
  [[nodiscard]] virtual Result<SandboxView> view(const std::string& id) = 0;
  /// Full id of a full id or prefix.
  [[nodiscard]] virtual Result<std::string> resolve(const std::string& id) const = 0;
  [[nodiscard]] virtual Result<std::string> plan_json(const std::string& id) = 0;
  [[nodiscard]] virtual Result<std::string> explain_json(const std::string& id) = 0;
  /// Also of those that have ended and are remembered; "" is none of them.
  [[nodiscard]] virtual Result<std::string> events_json(const std::string& id) = 0;
  /// What sandboxes of this runtime handler have used beside their guests, and what to declare; "":
  /// of all handlers.
  [[nodiscard]] virtual Result<std::string> recommend_json(const std::string& handler) = 0;
  /// Full ids of all that events_json() knows, sorted.
  [[nodiscard]] virtual std::vector<std::string> remembered() const = 0;
  /// Calls `done` with the number of applied steps when the work has ended, not before it returned.
  virtual void reconcile(const std::string& id, bool adopt,
                         std::function<void(Result<std::uint32_t>)> done) = 0;
  /// `id` is a full one here. Idempotent.
  [[nodiscard]] virtual Status register_sandbox(const std::string& id,
                                                const Registration& registration) = 0;
  [[nodiscard]] virtual Status unregister_sandbox(const std::string& id) = 0;
  [[nodiscard]] virtual Status reload() = 0;
  [[nodiscard]] virtual LogLevel log_level() const = 0;
  /// Until the next start.
  virtual void set_log_level(LogLevel level) = 0;
  /// A job over the whole node, in slices behind the placements: `slice` works for a few
  /// milliseconds and says whether there is more (daemon/node/scheduler.hpp). It is called from the
  /// loop, not before this returned; if it throws the job is dropped, with whatever it owns.
  /// LimitReached: too many jobs wait already.
  [[nodiscard]] virtual Status in_background(std::function<bool()> slice) = 0;
};

/// Interface: implemented by the bus service (and by nothing when --bus none).
class Publisher {
 public:
  virtual ~Publisher() = default;
  virtual void added(const SandboxView& view) = 0;
  virtual void removed(const std::string& id) = 0;
  virtual void changed(const SandboxView& before, const SandboxView& after) = 0;
  /// `one`: the sandbox with nothing but the event that has just happened.
  virtual void happened(const SandboxHistory& one) = 0;
  /// Manager::problems() gives something else now.
  virtual void problems_changed() = 0;
};

}  // namespace kcg
