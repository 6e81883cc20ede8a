// SPDX-License-Identifier: Apache-2.0
//
// A node for one live test: a corner of the cgroup trees, a private run root, debugfs, and the
// machine-wide lock that keeps two daemons from seeing each other's groups.
#pragma once

#include <memory>
#include <string>

#include "base/fd.hpp"
#include "support/live/daemon.hpp"
#include "support/live/groups.hpp"
#include "support/live/sandbox.hpp"

namespace kcg::live {

/// Resource: see the head of the file. Leaves nothing behind.
class Node final {
 public:
  explicit Node(Tree tree);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  [[nodiscard]] const Corner& corner() const { return *corner_; }
  [[nodiscard]] const std::string& run_root() const { return run_root_; }
  [[nodiscard]] std::unique_ptr<Sandbox> sandbox(SandboxSpec spec = {}) const;
  [[nodiscard]] std::unique_ptr<Daemon> daemon(DaemonSpec spec = {}) const;

 private:
  Fd lock_;
  bool unmount_debugfs_ = false;
  std::unique_ptr<Corner> corner_;
  std::string run_root_;
};

/// Empty when live tests of this tree can run here, else what is missing.
[[nodiscard]] std::string missing_for_live_tests(Tree tree);

}  // namespace kcg::live
