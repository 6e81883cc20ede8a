// SPDX-License-Identifier: Apache-2.0
//
// The look at the whole node (L9), at the start, after lost events and every reconcile.interval.
// Unchanged files cost a stat each; all of it is a job in slices, so that a big node's /proc and
// groups keep no sandbox waiting. Where nothing was lost the search and the looks at the sandboxes
// take a small share of a CPU, and on a node with very many of them go on in the next interval.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "daemon/node/node.hpp"
#include "observe/bundle_dirs.hpp"
#include "observe/scan.hpp"

namespace kcg {

/// Value: what of the node is still to be looked at.
struct LeftToLookAt {
  bool begun = false;
  std::vector<BundleOrigin> bundles;
  std::vector<SandboxId> states;
  std::vector<Pid> pids;
  std::optional<MarkSearch> marks;  ///< the first time only
};

/// Resource: see the head of the file. The node outlives it.
class Resync final {
 public:
  explicit Resync(Node& node) : node_(node) {}

  /// Learns which sandboxes there are, and looks at none: that is the loop's. So READY does not
  /// wait for one that is stuck.
  void start();
  /// reconcile.interval begins anew: it has changed.
  void begin_interval();
  /// What the sources may have missed, all of it now.
  void resync() { look_at_all(false); }
  /// A source lost events: everything is looked at, but not more often than once per pause.
  void rescan();
  /// Called when all sandboxes are known, in the loop; at once if they are.
  void when_all_known(std::function<void()> act);

 private:
  void announce(const SandboxId& id);
  void resync_later();
  void look_at_all(bool at_leisure);
  void search(bool at_leisure);
  [[nodiscard]] bool work();
  void begin(LeftToLookAt& left);
  [[nodiscard]] bool go_on();
  void allow_looks();
  void look_for_shims(std::vector<Pid>& pids);
  [[nodiscard]] Instant share() const;
  void end();
  [[nodiscard]] std::vector<SandboxId> youngest_first() const;

  Node& node_;
  std::optional<LeftToLookAt> left_;
  std::optional<Instant> search_left_;  ///< CPU time in this interval; nullopt: all that it needs
  bool rests_ = false;                  ///< until the next interval
  bool again_ = false;                  ///< something was lost during the present one
  Instant rescan_allowed_{0};
  bool rescan_waits_ = false;
  unsigned interval_ = 0;  ///< which one it is
  std::vector<std::function<void()>> early_;
};

}  // namespace kcg
