// SPDX-License-Identifier: Apache-2.0
//
// One life of the bus connection (L6): connection, objects and signals. When the connection is lost
// the whole session is dropped and the service opens a new one.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "daemon/bus/context.hpp"
#include "daemon/bus/manager_object.hpp"
#include "daemon/bus/pump.hpp"
#include "daemon/loop.hpp"

namespace kcg::bus {

/// Resource: see the head of the file.
class Session final {
 public:
  using Lost = std::function<void(const std::string& reason)>;

  /// Connects, exports the manager and its sandboxes. `lost` is called from the loop at most once,
  /// and must not destroy the session at once.
  [[nodiscard]] static Result<std::unique_ptr<Session>> open(Loop& loop, Manager& manager,
                                                             const std::string& address, Lost lost);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() = default;

  [[nodiscard]] Status claim_name();

  /// An error means that nobody was told; the objects are right nevertheless.
  [[nodiscard]] Status added(const SandboxView& view);
  [[nodiscard]] Status removed(const std::string& id);
  [[nodiscard]] Status changed(const SandboxView& before, const SandboxView& after);

 private:
  Session(Manager& manager, std::unique_ptr<sdbus::IConnection> connection);
  void export_all();
  void tell_conditions(const SandboxView& before, const SandboxView& after);
  void handled();

  // Destroyed from the bottom up: the connection must go last.
  std::unique_ptr<sdbus::IConnection> connection_;
  Context context_;
  SandboxObjects sandboxes_;
  std::vector<std::unique_ptr<SandboxObject>> retired_;  ///< until the message in hand is done
  std::unique_ptr<ManagerObject> manager_object_;
  sdbus::Slot bulk_calls_;
  std::unique_ptr<Pump> pump_;
};

}  // namespace kcg::bus
