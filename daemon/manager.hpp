// SPDX-License-Identifier: Apache-2.0
//
// What the bus service asks of the daemon, and what the daemon tells it (L6).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/bundle.hpp"
#include "model/config.hpp"
#include "model/host.hpp"
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
};

/// Interface: implemented by the reconciler. `id` may be a full id or an unambiguous prefix of at
/// least 4 characters unless said otherwise; "" = all where allowed.
class Manager {
 public:
  virtual ~Manager() = default;
  [[nodiscard]] virtual DaemonInfo daemon_info() const = 0;
  /// The last published views, sorted by id, without threads.
  [[nodiscard]] virtual std::vector<SandboxView> list(bool with_ignored) const = 0;
  /// Observed afresh, with threads and groups.
  [[nodiscard]] virtual Result<SandboxView> view(const std::string& id) = 0;
  /// Full id of a full id or prefix.
  [[nodiscard]] virtual Result<std::string> resolve(const std::string& id) const = 0;
  [[nodiscard]] virtual Result<std::string> plan_json(const std::string& id) = 0;
  [[nodiscard]] virtual Result<std::string> explain_json(const std::string& id) = 0;
  /// Calls `done` with the number of applied steps when the work has ended, not before it returned.
  virtual void reconcile(const std::string& id, bool adopt,
                         std::function<void(Result<std::uint32_t>)> done) = 0;
  /// `id` is a full one here. Idempotent.
  [[nodiscard]] virtual Status register_sandbox(const std::string& id,
                                                const Registration& registration) = 0;
  [[nodiscard]] virtual Status unregister_sandbox(const std::string& id) = 0;
  [[nodiscard]] virtual Status reload() = 0;
};

/// Interface: implemented by the bus service (and by nothing when --bus none).
class Publisher {
 public:
  virtual ~Publisher() = default;
  virtual void added(const SandboxView& view) = 0;
  virtual void removed(const std::string& id) = 0;
  virtual void changed(const SandboxView& before, const SandboxView& after) = 0;
};

}  // namespace kcg
