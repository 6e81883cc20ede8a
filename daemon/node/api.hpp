// SPDX-License-Identifier: Apache-2.0
//
// What the bus asks for (L9). Answers are observed afresh; nothing is placed by looking.
#pragma once

#include "daemon/health.hpp"
#include "daemon/manager.hpp"
#include "daemon/node/meter.hpp"
#include "daemon/node/passes.hpp"
#include "daemon/node/resync.hpp"
#include "show/plan_documents.hpp"

namespace kcg {

/// Resource: see the head of the file. Node, passes, resync and meter outlive it.
class NodeApi final : public Manager {
 public:
  NodeApi(Node& node, Passes& passes, Resync& resync, Meter& meter)
      : node_(node), passes_(passes), resync_(resync), meter_(meter) {}

  /// Where configuration is read again from, for Reload.
  void set_config_reader(std::function<Result<Config>()> reader) {
    read_config_ = std::move(reader);
  }
  void set_health(const Health* health) { health_ = health; }

  [[nodiscard]] DaemonInfo daemon_info() const override;
  [[nodiscard]] std::vector<std::string> problems() const override;
  [[nodiscard]] std::map<std::string, std::string> parts() const override;
  [[nodiscard]] LatencyFacts placement_times() const override { return node_.placements.facts(); }
  [[nodiscard]] std::map<std::string, std::uint64_t> conditions_raised() const override;
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
  void reconcile(const std::string& id, bool adopt,
                 std::function<void(Result<std::uint32_t>)> done) override;
  [[nodiscard]] std::vector<RegisteredView> registered() const override;
  [[nodiscard]] Status register_sandbox(const std::string& id,
                                        const Registration& registration) override;
  [[nodiscard]] Status unregister_sandbox(const std::string& id) override;
  [[nodiscard]] Status reload() override;
  [[nodiscard]] LogLevel log_level() const override { return node_.world.log.most(); }
  void set_log_level(LogLevel level) override;
  [[nodiscard]] Status in_background(std::function<bool()> slice) override;

 private:
  void reconcile_now(std::set<SandboxId> ids, bool adopt, Waiters::Done done);
  [[nodiscard]] Result<std::vector<Planned>> planned(const std::string& id) const;

  Node& node_;
  Passes& passes_;
  Resync& resync_;
  Meter& meter_;
  std::function<Result<Config>()> read_config_;
  const Health* health_ = nullptr;
};

}  // namespace kcg
