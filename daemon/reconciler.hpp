// SPDX-License-Identifier: Apache-2.0
//
// The straight line (L6): hint -> dirty -> observe -> desired -> diff -> apply -> fold -> publish.
// Everything that happens to a sandbox happens in pass().
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apply/apply.hpp"
#include "daemon/follower.hpp"
#include "daemon/log.hpp"
#include "daemon/loop.hpp"
#include "daemon/manager.hpp"
#include "daemon/state_store.hpp"
#include "observe/inputs.hpp"
#include "observe/sandbox.hpp"
#include "plan/record.hpp"
#include "plan/view.hpp"

namespace kcg {

/// Value: the parts of the world that the reconciler works on. All outlive it; `systemd` may be
/// null.
struct World {
  CgroupTree& tree;
  ProcView& proc;
  const Clock& clock;
  SystemdManager* systemd;
  StateStore& store;
  Log& log;
};

/// Resource: see the head of the file.
class Reconciler final : public Manager {
 public:
  Reconciler(Loop& loop, World world, Config config);

  /// Where configuration is read again from, for Reload.
  void set_config_reader(std::function<Result<Config>()> reader) {
    read_config_ = std::move(reader);
  }
  void set_follower(Follower* follower) { follower_ = follower; }
  void set_publisher(Publisher* publisher) { publisher_ = publisher; }

  /// sandbox_cgroup_only of Kata's configuration.toml.
  void set_kata_config(std::optional<KataConfig> config) {
    inputs_.set_kata_config(std::move(config));
  }

  /// Loads what survived, looks at the whole node once, and only then returns.
  [[nodiscard]] Status start();
  /// Every source ends here.
  void hint(const Hint& hint);

  // Manager
  [[nodiscard]] DaemonInfo daemon_info() const override;
  [[nodiscard]] std::vector<SandboxView> list(bool with_ignored) const override;
  [[nodiscard]] Result<SandboxView> view(const std::string& id) override;
  [[nodiscard]] Result<std::string> resolve(const std::string& id) const override;
  [[nodiscard]] Result<std::string> plan_json(const std::string& id) override;
  [[nodiscard]] Result<std::string> explain_json(const std::string& id) override;
  void reconcile(const std::string& id, bool adopt,
                 std::function<void(Result<std::uint32_t>)> done) override;
  [[nodiscard]] Status register_sandbox(const std::string& id,
                                        const Registration& registration) override;
  [[nodiscard]] Status unregister_sandbox(const std::string& id) override;
  [[nodiscard]] Status reload() override;

 private:
  using Timers = std::multimap<Instant, std::function<void()>>;
  /// Value: one sandbox between passes.
  struct Entry {
    Record record;
    SandboxView view;  ///< last published, without threads
    bool published = false;
    bool adopted = false;    ///< placed although it ran before our first start
    std::vector<Pid> owned;  ///< its keys in owner_
    std::optional<Timers::iterator> retry;
  };
  /// Value: somebody waits until these have been looked at.
  struct Waiter {
    std::set<SandboxId> left;
    std::uint32_t steps = 0;
    std::function<void(Result<std::uint32_t>)> done;
  };
  /// Value: one look and what follows from it.
  struct Look {
    Observed observed;
    Desired want;
    Plan plan;
  };

  // hints
  void job_hint(const std::string& unit, const std::string& problem);
  void bundle_hint(const std::string& directory);
  void exec_hint(Pid pid);
  void shim_hint(Pid pid);
  void process_hint(Pid pid);
  void rescan();
  void absorb(const InputChange& change);
  void retry_bundle(const std::string& directory);

  // queue
  void mark_dirty(const SandboxId& id);
  void arm_idle();
  Timers::iterator after(Instant when, std::function<void()> act);
  void arm_timer();
  void retry(const SandboxId& id, Entry& entry, std::optional<Instant> when);
  void resync_later();
  void work();
  void resync();
  [[nodiscard]] std::optional<SandboxId> next_dirty();

  // pass
  void pass(const SandboxId& id);
  [[nodiscard]] Look look(const SandboxId& id, const Entry& entry);
  [[nodiscard]] Report act(const SandboxId& id, const Plan& plan);
  void stay_warm(const Look& look);
  [[nodiscard]] bool ignorable(const SandboxId& id, const Entry& entry) const;
  void note_report(const SandboxId& id, const Report& report);
  void index(const SandboxId& id, Entry& entry);
  void publish(const SandboxId& id, Entry& entry, const Look& look);
  void publish_conditions(const SandboxId& id, const Record& before, const Record& after);
  void forget(const SandboxId& id);
  void give_memory_back();
  void finish_waiters(const SandboxId& id, std::uint32_t steps, bool open);
  [[nodiscard]] ObserveContext context(const SandboxId& id, const Entry& entry) const;
  [[nodiscard]] Result<std::vector<Planned>> planned(const std::string& id);

  Loop& loop_;
  World world_;
  Config config_;
  InputStore inputs_;
  std::function<Result<Config>()> read_config_;
  Follower* follower_ = nullptr;
  Publisher* publisher_ = nullptr;

  std::map<SandboxId, Entry> entries_;
  std::map<Pid, SandboxId> owner_;  ///< proven processes
  std::map<SandboxId, Registration> registrations_;
  std::map<std::string, unsigned> bundle_tries_;
  std::map<std::string, SandboxId> jobs_;  ///< units that systemd was asked about
  std::vector<Waiter> waiters_;
  std::optional<std::uint64_t> managed_since_;

  std::set<SandboxId> urgent_;      ///< an event said so
  std::set<SandboxId> background_;  ///< the resync's turn
  Timers timers_;
  Source idle_;
  Source timer_;
  Instant rescan_allowed_{0};
  bool rescan_waits_ = false;
  bool trim_waits_ = false;
};

}  // namespace kcg
