// SPDX-License-Identifier: Apache-2.0
//
// All sources of hints in one place (L6): what is watched for the node, and for each sandbox.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/follower.hpp"
#include "daemon/loop.hpp"
#include "daemon/watch/bundles.hpp"
#include "daemon/watch/groups.hpp"
#include "daemon/watch/kata_state.hpp"
#include "daemon/watch/oom.hpp"
#include "daemon/watch/pidfds.hpp"
#include "daemon/watch/processes.hpp"
#include "model/config.hpp"
#include "model/host.hpp"
#include "proc/view.hpp"

namespace kcg {

/// Resource: see the head of the file.
class Watches final : public Follower {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Watches>> create(Loop& loop, const Config& config,
                                                               const Host& host, ProcView& proc,
                                                               const Clock& clock,
                                                               const HintSink& sink);

  void follow(const SandboxId& id, const Observed& observed) override;
  void leave(const SandboxId& id) override;

  /// What is less good than it could be, for the log.
  [[nodiscard]] std::vector<std::string> problems() const;

 private:
  Watches(std::unique_ptr<BundleWatch> bundles, std::unique_ptr<KataStateWatch> kata,
          std::unique_ptr<GroupWatch> groups, std::unique_ptr<OomWatch> oom,
          std::unique_ptr<PidWatch> ends, std::unique_ptr<ProcessWatch> processes)
      : bundles_(std::move(bundles)),
        kata_(std::move(kata)),
        groups_(std::move(groups)),
        oom_(std::move(oom)),
        ends_(std::move(ends)),
        processes_(std::move(processes)) {}
  void follow_processes(const SandboxId& id, const Observed& observed);

  std::unique_ptr<BundleWatch> bundles_;
  std::unique_ptr<KataStateWatch> kata_;
  std::unique_ptr<GroupWatch> groups_;
  std::unique_ptr<OomWatch> oom_;
  std::unique_ptr<PidWatch> ends_;
  std::unique_ptr<ProcessWatch> processes_;
  std::map<SandboxId, std::vector<Pid>> pids_;  ///< told to processes_
};

}  // namespace kcg
