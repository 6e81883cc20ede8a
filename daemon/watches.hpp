// SPDX-License-Identifier: Apache-2.0
//
// All sources of hints in one place (L9): what is watched for the node, and for each sandbox.
#pragma once

#include <map>

#include "base/flat_set.hpp"
#include "daemon/follower.hpp"
#include "daemon/health.hpp"
#include "daemon/loop.hpp"
#include "daemon/watch/bundles.hpp"
#include "daemon/watch/gated_sink.hpp"
#include "daemon/watch/groups.hpp"
#include "daemon/watch/kata_state.hpp"
#include "daemon/watch/losses.hpp"
#include "daemon/watch/mounts.hpp"
#include "daemon/watch/oom.hpp"
#include "daemon/watch/pidfds.hpp"
#include "daemon/watch/processes.hpp"
#include "daemon/watch/vcpus.hpp"
#include "model/config.hpp"
#include "model/host.hpp"
#include "proc/view.hpp"

namespace kcg {

/// Resource: see the head of the file. No source is so important that the daemon would not start
/// without it: what cannot be had is told to `health` and tried again.
class Watches final : public Follower {
 public:
  Watches(Loop& loop, const Config& config, const Host& host, ProcView& proc, HintSink sink,
          Health& health);
  Watches(const Watches&) = delete;
  Watches& operator=(const Watches&) = delete;
  ~Watches() override = default;

  void follow(const SandboxId& id, const Round& last) override;
  void expect_vmm(const SandboxId& id, Pid shim) override;
  void await_end(const SandboxId& id, const TaskKey& process) override { ends_.watch(id, process); }
  void hear_groups() override { groups_.hear(); }
  void wrote(const Round& round) override;
  [[nodiscard]] Told told(const SandboxId& id) const override {
    return {processes_.listening(), vcpus_.hears(id.str()), groups_.hears(id)};
  }
  void leave(const SandboxId& id) override;
  void set_mode(Mode mode) override { oom_.set_may_write(mode == Mode::enforce); }

 private:
  void follow_processes(const SandboxId& id, const Observed& observed);
  void follow_vcpus(const SandboxId& id, const Observed& observed);

  Losses losses_;
  GatedSink gate_;
  BundleWatch bundles_;
  KataStateWatch kata_;
  MountWatch mounts_;
  GroupWatch groups_;
  OomWatch oom_;
  PidWatch ends_;
  ProcessWatch processes_;
  VcpuWatch vcpus_;
  std::map<SandboxId, FlatSet<Pid>> pids_;  ///< told to processes_
};

}  // namespace kcg
