// SPDX-License-Identifier: Apache-2.0
//
// Name and parent of many processes at once (L5, internal to proc/): generic netlink, family
// TASKSTATS. Source: kernel/taskstats.c, kernel/tsacct.c, linux/taskstats.h. A read below /proc
// makes the kernel build four inodes for a process that nobody has looked at yet; this makes none.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "proc/view.hpp"

namespace kcg {

/// Resource: a socket.
class TaskNames final {
 public:
  /// Asks for its own name first. EPERM: no CAP_NET_ADMIN. ENOENT: a kernel without
  /// CONFIG_TASKSTATS and CONFIG_TASK_XACCT, or not the initial network namespace.
  [[nodiscard]] static Result<TaskNames> open();

  /// In their order. ESRCH: it is no more. nullopt: there is no answer, or a refusal: ask
  /// elsewhere. Never blocks: the kernel answers while it is asked.
  using Answers = std::vector<std::optional<Result<TaskName>>>;
  [[nodiscard]] Answers ask(const std::vector<Pid>& pids);

 private:
  explicit TaskNames(Fd fd) : fd_(std::move(fd)) {}
  [[nodiscard]] Status find_family();
  void ask_portion(std::span<const Pid> pids, std::span<Answers::value_type> answers);

  Fd fd_;
  std::uint16_t family_ = 0;
  std::uint32_t sequence_ = 0;
};

}  // namespace kcg
