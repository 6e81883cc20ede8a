// SPDX-License-Identifier: Apache-2.0
//
// One life of the bus connection (L9): connection, objects and signals. When the connection is lost
// the whole session is dropped and the service opens a new one.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "daemon/bus/context.hpp"
#include "daemon/bus/log_control.hpp"
#include "daemon/bus/manager_object.hpp"
#include "daemon/bus/pump.hpp"
#include "daemon/loop.hpp"

namespace kcg::bus {

/// Resource: see the head of the file.
class Session final {
 public:
  /// What the owner is told, from the loop.
  struct Events {
    /// At most once; the owner must not destroy the session at once.
    std::function<void(const std::string& reason)> lost;
    std::function<void(const std::string& text)> problem;  ///< somebody was not told something
  };

  /// Exports the manager and its sandboxes.
  [[nodiscard]] static Result<std::unique_ptr<Session>> open(
      Loop& loop, Manager& manager, std::unique_ptr<sdbus::IConnection> connection, Events events);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  /// `claimed` is called from the loop when the bus has answered.
  [[nodiscard]] Status claim_name(std::function<void(Status)> claimed);

  void added(const SandboxView& view);
  void removed(const std::string& id);
  void changed(const SandboxView& before, const SandboxView& after);
  void happened(const SandboxHistory& one);
  void problems_changed();

 private:
  Session(Manager& manager, std::unique_ptr<sdbus::IConnection> connection, Events events);
  void export_all();
  void watch_calls();
  void watch_callers();
  void now_or_soon(std::string what, std::function<void()> act);
  void run(const std::string& what, const std::function<void()>& act);
  void add(const SandboxView& view);
  void remove(const std::string& id);
  void change(const SandboxView& before, const SandboxView& after);
  void tell_conditions(const SandboxView& before, const SandboxView& after);
  void handled();
  static int on_message(sd_bus_message* message, void* self, sd_bus_error* error);
  static int on_owner_changed(sd_bus_message* message, void* self, sd_bus_error* error);
  static int on_named(sd_bus_message* message, void* self, sd_bus_error* error);

  /// Value: what waits until the message in hand is done.
  struct Later {
    std::string what;
    std::function<void()> act;
  };

  // Destroyed from the bottom up: the connection must go last.
  std::unique_ptr<sdbus::IConnection> connection_;
  Events events_;
  Context context_;
  SandboxObjects sandboxes_;
  std::unique_ptr<ManagerObject> manager_object_;
  sd_bus* bus_ = nullptr;  ///< beneath connection_
  std::optional<LogControl> log_control_;
  sd_bus_slot* calls_ = nullptr;
  sd_bus_slot* callers_ = nullptr;
  sd_bus_slot* naming_ = nullptr;
  std::function<void(Status)> claimed_;
  std::vector<Later> later_;
  std::unique_ptr<Pump> pump_;
};

}  // namespace kcg::bus
