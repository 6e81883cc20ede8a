// SPDX-License-Identifier: Apache-2.0
//
// The end of shims and VMMs (L9): one pidfd each.
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
    const std::string* id = nullptr;  ///< a key of watched_
    Fd fd;                            ///< none: not watched yet
  };
  using Processes = std::map<TaskKey, Watched>;
  [[nodiscard]] Status open();
  [[nodiscard]] Status listen(Processes::value_type& one);
  void woken();
  void ended(std::string id, TaskKey process);
  [[nodiscard]] Status retry();

  Loop& loop_;
  ProcView& proc_;
  HintSink sink_;
  std::map<std::string, Processes> watched_;  ///< by sandbox
  Shortage shortage_;
  Fd ends_;  ///< an epoll of all of them: a source of the loop each would be three times the memory
  Source source_;
};

}  // namespace kcg
