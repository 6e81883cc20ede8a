// SPDX-License-Identifier: Apache-2.0
//
// The D-Bus service (L6): what systemd/dbus/*.xml promises, on top of Manager. It owns the
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
  /// Connects and exports the manager and all sandboxes that `manager` lists. `address` is "system"
  /// or a D-Bus address ("unix:path=..."). `loop` and `manager` must outlive the service.
  [[nodiscard]] static Result<std::unique_ptr<BusService>> create(Loop& loop, Manager& manager,
                                                                  const std::string& address,
                                                                  BusLog log);
  ~BusService() override;
  BusService(const BusService&) = delete;
  BusService& operator=(const BusService&) = delete;

  /// The last step of the daemon's start, after the first full pass. From then on the name is
  /// claimed again after each reconnection.
  [[nodiscard]] Status claim_name();

  void added(const SandboxView& view) override;
  void removed(const std::string& id) override;
  void changed(const SandboxView& before, const SandboxView& after) override;

 private:
  struct Impl;
  explicit BusService(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kcg
