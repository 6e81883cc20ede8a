// SPDX-License-Identifier: Apache-2.0
//
// What was read of a large process before it is asked for (L5, internal to proc/): a few thousand
// threads take a tenth of a second, and others want their turn in between.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "model/process.hpp"

namespace kcg {

/// Value: one thread as it was read, and the children that it started.
struct ThreadAhead {
  ThreadFacts facts;
  std::vector<Pid> children;
};

/// Value: what is known of processes with many threads, and what was read of them in parts. A part
/// counts once: whoever takes it acts upon it, and it is out of date.
class ThreadsAhead final {
 public:
  /// More threads than these are read in parts.
  static constexpr std::size_t kMany = 256;
  /// False: the thread is left for whoever takes the parts, to be read again and told of.
  using Read = std::function<std::optional<ThreadAhead>(Pid tid)>;

  explicit ThreadsAhead(std::size_t many = kMany) : many_(many) {}

  /// Whether a process with so many threads is read in parts.
  [[nodiscard]] bool large(std::size_t threads) const { return threads > many_; }
  /// Whether its threads were asked for hints of what they do, too, since it was taken last.
  [[nodiscard]] bool wants_hints(const TaskKey& process) const;
  void hinted(Pid pid);

  /// Goes on reading `tids`; false: `stop` said so, and there is more to read.
  [[nodiscard]] bool read(const TaskKey& process, std::vector<Pid> tids, const Read& read,
                          const std::function<bool()>& stop);
  /// children() and take() have something only while it is used.
  void use(bool use) { used_ = use; }
  /// The children that a thread had; nullopt: not read.
  [[nodiscard]] std::optional<std::vector<Pid>> children(Pid pid, Pid tid) const;
  /// The parts, which are forgotten with it; none of another process with this pid.
  [[nodiscard]] std::unordered_map<Pid, ThreadAhead> take(const TaskKey& process);
  /// The parts only, or everything about a pid.
  void drop(Pid pid);
  void forget(Pid pid) { processes_.erase(pid); }
  void forget_if(const std::function<bool(const TaskKey&)>& ended) {
    std::erase_if(processes_, [&](const auto& one) { return ended(one.second.key); });
  }

 private:
  struct Process {
    TaskKey key;
    bool hints = true;  ///< before it is known
    bool reading = false;
    std::vector<Pid> left;
    std::unordered_map<Pid, ThreadAhead> threads;
  };
  std::size_t many_;
  bool used_ = false;
  std::unordered_map<Pid, Process> processes_;
};

}  // namespace kcg
