// SPDX-License-Identifier: Apache-2.0
//
// The D-Bus service (L9): what systemd/dbus/*.xml promises, on top of Manager. It owns the
// connection, one object per sandbox and the signals. A lost bus never stops the daemon: the
// service comes back by itself and exports everything again.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "daemon/loop.hpp"
#include "daemon/manager.hpp"

namespace kcg {

/// How the bus service tells the daemon's log; `problem` is false for good news.
using BusLog = std::function<void(bool problem, const std::string& text)>;

/// Resource: see the head of the file. Everything happens in `loop`; there is no other thread.
class BusService final : public Publisher {
 public:
  /// Begins to connect; nothing waits for the bus. `address` is "system" or a D-Bus address
  /// ("unix:path=..."). `loop` and `manager` must outlive the service.
  [[nodiscard]] static std::unique_ptr<BusService> create(Loop& loop, Manager& manager,
                                                          const std::string& address, BusLog log);
  ~BusService() override;
  BusService(const BusService&) = delete;
  BusService& operator=(const BusService&) = delete;

  /// The last step of the daemon's start, when the sandboxes of the first look are known. From then
  /// on the name is claimed again after each reconnection. `settled` is called once, from the loop:
  /// the name is ours; or the bus refused it (an error); or the bus cannot be reached or does not
  /// answer, and the daemon works without it until it does.
  void claim_name(std::function<void(Status)> settled);

  void added(const SandboxView& view) override;
  void removed(const std::string& id) override;
  void changed(const SandboxView& before, const SandboxView& after) override;
  void happened(const SandboxHistory& one) override;
  void problems_changed() override;

 private:
  struct Impl;
  explicit BusService(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kcg
