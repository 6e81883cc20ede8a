// SPDX-License-Identifier: Apache-2.0
//
// A daemon without a node: Manager on top of views that the test chooses.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/loop.hpp"
#include "daemon/manager.hpp"
#include "model/view.hpp"

namespace kcg::integration {

/// Resource: what the bus service talks to. What it is asked is told to `tell`, one line each.
class FakeManager final : public Manager {
 public:
  using Done = std::function<void(Result<std::uint32_t>)>;

  explicit FakeManager(std::function<void(const std::string&)> tell) : tell_(std::move(tell)) {}

  [[nodiscard]] DaemonInfo daemon_info() const override;
  [[nodiscard]] std::vector<std::string> problems() const override { return troubles; }
  [[nodiscard]] std::map<std::string, std::string> parts() const override {
    return {{"bundles", troubles.empty() ? "working" : "fallback"}, {"systemd", "off"}};
  }
  [[nodiscard]] LatencyFacts placement_times() const override {
    return {42, Instant(4100), Instant(12'000), Instant(210'000), {{Instant(5000), 40}}};
  }
  [[nodiscard]] std::map<std::string, std::uint64_t> conditions_raised() const override {
    return {{"OomKilled", 2}};
  }
  [[nodiscard]] std::vector<RegisteredView> registered() const override { return registrations; }
  [[nodiscard]] std::vector<SandboxView> list(bool with_ignored) const override;
  [[nodiscard]] std::optional<std::uint64_t> memory_used(const std::string& id) const override;
  [[nodiscard]] Measured measured(const std::string& id) const override;
  [[nodiscard]] std::optional<SandboxUsage> usage(const std::string& id) override;
  [[nodiscard]] Result<SandboxView> view(const std::string& id) override;
  [[nodiscard]] Result<std::string> resolve(const std::string& id) const override;
  [[nodiscard]] Result<std::string> plan_json(const std::string& id) override;
  [[nodiscard]] Result<std::string> explain_json(const std::string& id) override;
  [[nodiscard]] Result<std::string> events_json(const std::string& id) override;
  [[nodiscard]] Result<std::string> recommend_json(const std::string& handler) override;
  [[nodiscard]] std::vector<std::string> remembered() const override;
  void reconcile(const std::string& id, bool adopt, Done done) override;
  [[nodiscard]] Status register_sandbox(const std::string& id,
                                        const Registration& registration) override;
  [[nodiscard]] Status unregister_sandbox(const std::string& id) override;
  [[nodiscard]] Status reload() override;
  [[nodiscard]] LogLevel log_level() const override { return level; }
  void set_log_level(LogLevel next) override { level = next; }
  [[nodiscard]] Status in_background(std::function<bool()> slice) override;

  /// Answers the oldest waiting Reconcile.
  void answer(const Result<std::uint32_t>& outcome);

  std::map<std::string, SandboxView> views;
  std::vector<SandboxView> ignored;
  std::vector<std::string> troubles;
  std::vector<RegisteredView> registrations;
  Mode mode = Mode::enforce;
  LogLevel level = LogLevel::info;
  Publisher* publisher = nullptr;
  bool remove_when_looked_at = false;
  /// Between two looks: what a sandbox uses now.
  std::optional<std::uint64_t> memory;
  /// CPU time that one plan costs.
  std::chrono::microseconds look_costs{0};
  std::chrono::microseconds view_costs{0};
  Loop* loop = nullptr;

 private:
  std::function<void(const std::string&)> tell_;
  void arm();

  std::vector<Done> waiting_;
  std::deque<std::function<bool()>> jobs_;
  Source soon_;
};

}  // namespace kcg::integration
