// SPDX-License-Identifier: Apache-2.0
//
// From hints to who is to be looked at (L9). What a look is, and what follows from it, is
// daemon/node/passes; the look at the whole node is daemon/node/resync.
#pragma once

#include <functional>
#include <string>

#include "daemon/node/api.hpp"
#include "daemon/node/node.hpp"
#include "daemon/node/passes.hpp"
#include "daemon/node/resync.hpp"
#include "model/hint.hpp"

namespace kcg {

/// Resource: see the head of the file.
class Reconciler final {
 public:
  Reconciler(Loop& loop, const World& world, Config config);

  void set_follower(Follower* follower) { node_.follower = follower; }
  void set_publisher(Publisher* publisher) { node_.announcer.set_publisher(publisher); }

  /// Loads what survived and learns which sandboxes there are; they are looked at in the loop.
  void start() {
    resync_.start();
    meter_.configure();
  }
  /// What the engine tells through NRI.
  void pods_told(const nri::News& news) { node_.absorb(node_.inputs.pods_told(news)); }
  /// Every other source ends here.
  void hint(const Hint& hint);
  /// What the bus asks of us.
  [[nodiscard]] NodeApi& api() { return api_; }

 private:
  void state_hint(const std::string& text);
  void group_hint(const std::string& text, Changed what);
  void job_hint(const std::string& unit, const std::string& problem);
  void exec_hint(Pid pid);
  void shim_hint(Pid pid);
  void end_hint(const std::string& text, Pid pid);
  [[nodiscard]] std::optional<SandboxId> keeps_registered(const std::string& text, Pid pid);
  void process_hint(Pid pid, Due why);

  Node node_;
  Passes passes_{node_};
  Resync resync_{node_};
  Meter meter_{node_};
  NodeApi api_{node_, passes_, resync_, meter_};
};

}  // namespace kcg
