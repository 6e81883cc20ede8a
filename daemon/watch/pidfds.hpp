// SPDX-License-Identifier: Apache-2.0
//
// The end of shims and VMMs (L8): one pidfd each.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "base/fd.hpp"
#include "daemon/loop.hpp"
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
  void watch(const std::string& id, const TaskKey& process);
  /// Ends all watches of a sandbox.
  void unwatch(const std::string& id);
  [[nodiscard]] std::size_t size() const;

 private:
  struct Watched {
    Fd fd;
    Source source;  ///< none: not watched yet
  };
  [[nodiscard]] Status listen(const std::string& id, const TaskKey& process, Watched& watched);
  void ended(std::string id, TaskKey process);
  [[nodiscard]] Status retry();

  Loop& loop_;
  ProcView& proc_;
  HintSink sink_;
  std::map<std::string, std::map<TaskKey, Watched>> watched_;  ///< by sandbox
  Shortage shortage_;
};

}  // namespace kcg
