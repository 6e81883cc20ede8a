// SPDX-License-Identifier: Apache-2.0
//
// A daemon without a node: Manager on top of views that the test chooses.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "daemon/manager.hpp"
#include "model/view.hpp"

namespace kcg::integration {

/// Resource: what the bus service talks to. What it is asked is told to `tell`, one line each.
class FakeManager final : public Manager {
 public:
  using Done = std::function<void(Result<std::uint32_t>)>;

  explicit FakeManager(std::function<void(const std::string&)> tell) : tell_(std::move(tell)) {}

  [[nodiscard]] DaemonInfo daemon_info() const override;
  [[nodiscard]] std::vector<SandboxView> list(bool with_ignored) const override;
  [[nodiscard]] Result<SandboxView> view(const std::string& id) override;
  [[nodiscard]] Result<std::string> resolve(const std::string& id) const override;
  [[nodiscard]] Result<std::string> plan_json(const std::string& id) override;
  [[nodiscard]] Result<std::string> explain_json(const std::string& id) override;
  void reconcile(const std::string& id, bool adopt, Done done) override;
  [[nodiscard]] Status register_sandbox(const std::string& id,
                                        const Registration& registration) override;
  [[nodiscard]] Status unregister_sandbox(const std::string& id) override;
  [[nodiscard]] Status reload() override;

  /// Answers the oldest waiting Reconcile.
  void answer(const Result<std::uint32_t>& outcome);

  std::map<std::string, SandboxView> views;
  std::vector<SandboxView> ignored;
  Mode mode = Mode::enforce;
  Publisher* publisher = nullptr;
  bool remove_when_looked_at = false;

 private:
  std::function<void(const std::string&)> tell_;
  std::vector<Done> waiting_;
};

}  // namespace kcg::integration
