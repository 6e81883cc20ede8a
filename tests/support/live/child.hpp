// SPDX-License-Identifier: Apache-2.0
//
// A process that a live test started: it begins in given groups and ends with its owner.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.hpp"

namespace kcg::live {

/// Value: how to start a process.
struct Command {
  std::vector<std::string> argv;                   ///< argv[0] as the program shall see it
  std::string program;                             ///< "": argv[0]
  std::map<std::string, std::string> environment;  ///< added to ours
  std::string directory;                           ///< "": ours
  std::vector<std::string> groups;                 ///< cgroup directories to begin in
  std::string output;                              ///< file for stdout and stderr; "": ours
  int wanted_pid = 0;                              ///< 0: whatever the kernel gives
  std::function<void()> before_exec;               ///< runs in the child: namespaces, chroot, uid
};

/// Resource: killed and reaped by its destructor.
class Child final {
 public:
  /// Throws std::runtime_error when it cannot be started.
  [[nodiscard]] static Child start(const Command& command);
  Child(Child&&) noexcept = default;
  Child& operator=(Child&&) = delete;
  ~Child();

  [[nodiscard]] int pid() const { return pid_; }
  [[nodiscard]] int pidfd() const { return pidfd_.get(); }
  [[nodiscard]] bool running() const { return !status_ && !ended_within({}); }
  void signal(int number) const;
  /// The wait status (see waitpid), reaped; nullopt when it still runs after `patience`.
  std::optional<int> wait(std::chrono::milliseconds patience);

 private:
  Child(int pid, Fd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}
  [[nodiscard]] bool ended_within(std::chrono::milliseconds patience) const;

  int pid_;
  Fd pidfd_;  ///< -1 once moved from
  std::optional<int> status_;
};

}  // namespace kcg::live
