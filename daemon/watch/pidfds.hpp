// SPDX-License-Identifier: Apache-2.0
//
// The end of shims and VMMs (L6): one pidfd each.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "base/fd.hpp"
#include "daemon/loop.hpp"
#include "model/ids.hpp"
#include "proc/view.hpp"

namespace kcg {

/// Resource: HintKind::process_end with the sandbox id, once per watched process.
class PidWatch final {
 public:
  PidWatch(Loop& loop, ProcView& proc, HintSink sink)
      : loop_(loop), proc_(proc), sink_(std::move(sink)) {}

  /// Watching the same process again changes nothing. ESRCH: it has ended already, or the pid is
  /// another process's by now; no hint follows.
  [[nodiscard]] Status watch(const std::string& id, const TaskKey& process);
  /// Ends all watches of a sandbox.
  void unwatch(const std::string& id);
  [[nodiscard]] std::size_t size() const { return watched_.size(); }

 private:
  struct Watched {
    std::string id;
    Fd fd;
    Source source;
  };
  void ended(const TaskKey& process);

  Loop& loop_;
  ProcView& proc_;
  HintSink sink_;
  std::map<TaskKey, Watched> watched_;
};

}  // namespace kcg
