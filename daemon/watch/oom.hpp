// SPDX-License-Identifier: Apache-2.0
//
// Processes that the kernel kills for lack of memory (L6): memory.events on v2, an eventfd on
// memory.oom_control on v1. Both tell more than kills, and v1 tells a moment before the kill: what
// is passed on is only that somebody should look.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "daemon/watch/inotify.hpp"
#include "model/host.hpp"

namespace kcg {

/// Resource: HintKind::group with the sandbox id; on v2 only when the count of kills has changed,
/// so that a sandbox at its limit does not cause a pass for each of its events.
class OomWatch final {
 public:
  /// To listen on v1 means to write into the group; without `may_write` nothing is heard there.
  [[nodiscard]] static Result<std::unique_ptr<OomWatch>> create(Loop& loop, const Host& host,
                                                                bool may_write, HintSink sink);

  /// From now on exactly these groups are watched for `id`; those that do not exist, or have no
  /// memory controller, are left out. A group that was made anew is watched anew.
  void watch(const std::string& id, const std::vector<GroupRef>& groups);
  void unwatch(const std::string& id);
  [[nodiscard]] std::size_t size() const;

 private:
  /// Resource: one group.
  struct Watched {
    Fd file;        ///< memory.events or memory.oom_control
    int wd = -1;    ///< v2
    Fd event;       ///< v1
    Source source;  ///< v1
    std::uint64_t kills = 0;
  };
  OomWatch(Loop& loop, const Host& host, bool may_write, HintSink sink)
      : loop_(loop), host_(host), may_write_(may_write), sink_(std::move(sink)) {}
  [[nodiscard]] bool listen(const std::string& id, const GroupRef& group, Watched& watched);
  [[nodiscard]] bool listen_unified(const std::string& directory, Watched& watched);
  [[nodiscard]] bool listen_v1(const std::string& id, const std::string& directory,
                               Watched& watched);
  void drop(Watched& watched);
  void on_event(int wd);

  Loop& loop_;
  Host host_;
  bool may_write_;
  HintSink sink_;
  std::map<std::string, std::map<GroupRef, Watched>> watched_;  ///< by sandbox
  std::unique_ptr<Inotify> inotify_;  ///< last: its handler uses the members above
};

}  // namespace kcg
