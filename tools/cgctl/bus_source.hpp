// SPDX-License-Identifier: Apache-2.0
//
// The daemon as seen over D-Bus. Blocking calls; the daemon is never started by them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "daemon/manager.hpp"
#include "model/usage.hpp"
#include "tools/cgctl/source.hpp"
#include "tools/cgctl/status.hpp"

namespace kcg::cgctl {

/// Resource: a connection to a bus on which somebody owns the daemon's name.
class BusSource final : public Source {
 public:
  /// Error code ClientError::not_reachable when there is no bus, nobody owns the name, or its owner
  /// does not answer within 3 s.
  [[nodiscard]] static Result<std::unique_ptr<BusSource>> connect(const std::string& address);
  ~BusSource() override;
  BusSource(const BusSource&) = delete;
  BusSource& operator=(const BusSource&) = delete;

  [[nodiscard]] Result<std::vector<SandboxView>> list(bool ignored) override;
  [[nodiscard]] Result<SandboxView> view(const std::string& id) override;
  void wait_for_repairs() override;
  [[nodiscard]] Result<std::string> plan(const std::string& id) override;
  [[nodiscard]] Result<std::string> explain(const std::string& id) override;
  [[nodiscard]] Result<std::string> recommend(const std::string& handler) override;
  [[nodiscard]] Result<std::vector<SandboxHistory>> events(const std::string& id) override;

  /// What is measured of each sandbox, by its id; one that nothing is measured of is not there.
  [[nodiscard]] Result<std::map<std::string, SandboxUsage>> usage();
  /// What the daemon said of itself when it was connected to, or looked at again.
  [[nodiscard]] const DaemonState& state() const;
  const DaemonState& look_again();
  /// Number of steps.
  [[nodiscard]] Result<std::uint32_t> reconcile(const std::string& id, bool adopt);
  [[nodiscard]] Status register_sandbox(const std::string& id, const RegisterOptions& options);
  [[nodiscard]] Status unregister_sandbox(const std::string& id);
  /// Sorted by id.
  [[nodiscard]] Result<std::vector<RegisteredView>> registrations();
  [[nodiscard]] Status reload();

 private:
  struct Impl;
  explicit BusSource(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kcg::cgctl
