// SPDX-License-Identifier: Apache-2.0
//
// The end of shims and VMMs (L9): one pidfd each.
#pragma once

#include <cstddef>
#include <map>
#include <span>

#include "base/fd.hpp"
#include "daemon/loop.hpp"
#include "daemon/watch/fd_crowd.hpp"
#include "daemon/watch/shortage.hpp"
#include "model/ids.hpp"
#include "proc/view.hpp"

namespace kcg {

/// Resource: HintKind::process_end with the sandbox id, once per watched process.
class PidWatch final {
 public:
  PidWatch(Loop& loop, ProcView& proc, HintSink sink, TellHealth tell);

  /// Watching the same process again changes nothing. One that has ended already, or whose pid is
  /// another process's by now, is told at once. That there is no descriptor says nothing about the
  /// process: it is tried again.
  void watch(const SandboxId& id, const TaskKey& process);
  /// Ends all watches of a sandbox.
  void unwatch(const SandboxId& id);
  [[nodiscard]] std::size_t size() const;

 private:
  struct Watched {
    const SandboxId* id = nullptr;  ///< a key of watched_
    Fd fd;                          ///< none: not watched yet
  };
  using Processes = std::map<TaskKey, Watched>;
  [[nodiscard]] Status listen(Processes::value_type& one);
  void woken(std::span<void* const> ready);
  void ended(SandboxId id, TaskKey process);
  [[nodiscard]] Status retry();

  ProcView& proc_;
  HintSink sink_;
  std::map<SandboxId, Processes> watched_;
  Shortage shortage_;
  FdCrowd ends_;
};

}  // namespace kcg
