// SPDX-License-Identifier: Apache-2.0
//
// kata-cgroupd under test: started, waited for, killed, started again.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "support/live/child.hpp"
#include "support/live/groups.hpp"

namespace kcg::live {

/// Value: how to run it.
struct DaemonSpec {
  std::string config = {};  ///< TOML, after what every test needs
  /// Far away: what a test sees must have come from an event.
  std::string resync = "3600s";
  std::vector<std::string> arguments = {};  ///< after what every test needs
  std::string bus = "none";                 ///< as --bus
  std::vector<std::string> wrapper = {};    ///< e.g. strace and its options
};

/// Resource: a daemon that ends with the object. Its log is one file for all its lives.
class Daemon final {
 public:
  Daemon(Tree tree, std::string run_root, DaemonSpec spec);
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  /// Starts it and waits for READY=1; throws with its log when it ends or stays silent.
  void start();
  /// Starts it without waiting; false from ready() when it ended instead.
  void launch();
  [[nodiscard]] bool ready();
  void kill9();
  /// SIGTERM, then its wait status; throws when it does not end.
  int terminate();
  /// Its wait status once it ended by itself.
  [[nodiscard]] std::optional<int> ended();
  [[nodiscard]] int pid() const { return child_->pid(); }
  [[nodiscard]] std::string log() const;
  /// Lines of the log that are warnings or worse.
  [[nodiscard]] std::string complaints() const;
  /// Those of them that were not taken back: on a busy machine a file may stay half-written, or
  /// threads be restless, for longer than the daemon waits before it says so.
  [[nodiscard]] std::string standing_complaints() const;
  /// Whole looks at sandboxes so far; of `id`, if given. Needs "--log-level debug".
  [[nodiscard]] unsigned looks(const std::string& id = {}) const;
  /// Why there was the first of them of `id`, as the log says it; "": there was none.
  [[nodiscard]] std::string first_looked_for(const std::string& id) const;
  /// The same of glances at threads.
  [[nodiscard]] unsigned glances(const std::string& id) const;

 private:
  [[nodiscard]] Command command() const;

  Tree tree_;
  std::string run_root_;
  std::string files_;  ///< what its own files in the run root begin with
  DaemonSpec spec_;
  Fd notify_;
  std::optional<Child> child_;
};

}  // namespace kcg::live
