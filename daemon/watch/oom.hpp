// SPDX-License-Identifier: Apache-2.0
//
// Processes that the kernel kills for lack of memory (L9): memory.events on v2, an eventfd on
// memory.oom_control on v1. Both tell more than kills, and v1 tells a moment before the kill: what
// is passed on is only that somebody should look.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/flat_set.hpp"
#include "daemon/watch/fd_crowd.hpp"
#include "daemon/watch/inotify.hpp"
#include "daemon/watch/shortage.hpp"
#include "model/host.hpp"

namespace kcg {

/// Resource: HintKind::group with the sandbox id; on v2 only when the count of kills has changed,
/// so that a sandbox at its limit does not cause a pass for each of its events.
class OomWatch final {
 public:
  /// To listen on v1 means to write into the group; without `may_write` nothing is heard there.
  OomWatch(Loop& loop, const Host& host, bool may_write, HintSink sink, TellHealth tell);

  /// From now on exactly these groups are watched for `id`; those that do not exist, or have no
  /// memory controller, are left out. A group that was made anew is watched anew. What there is no
  /// room for is tried again, and a hint follows when it has worked.
  void watch(const SandboxId& id, const std::vector<GroupRef>& groups);
  void unwatch(const SandboxId& id);
  /// Where writes are no longer made, what was written for is dropped; where they are from now on,
  /// the next watch() listens.
  void set_may_write(bool may_write);
  [[nodiscard]] std::size_t size() const;

 private:
  /// Resource: one group.
  struct Watched {
    Fd file;                        ///< memory.events or memory.oom_control
    int wd = -1;                    ///< v2
    Fd event;                       ///< v1
    const SandboxId* id = nullptr;  ///< a key of watched_
    std::uint64_t kills = 0;
  };
  using Groups = std::map<GroupRef, Watched>;

  void listen(const SandboxId& id, const GroupRef& group);
  [[nodiscard]] Status listen_unified(const std::string& directory, Watched& watched);
  [[nodiscard]] Status listen_v1(const std::string& directory, Groups::value_type& one);
  void drop(const SandboxId& id, const Watched& watched);
  [[nodiscard]] Status retry();
  void woken(std::span<void* const> ready);
  void on_event(int wd);
  void compare(const SandboxId& id, int wd);

  Host host_;
  bool may_write_;
  HintSink sink_;
  std::map<SandboxId, Groups> watched_;
  std::map<int, FlatSet<SandboxId>> ids_;            ///< by watch: a pod may have several
  std::map<SandboxId, std::set<GroupRef>> refused_;  ///< there was no room for these
  std::optional<Error> refusal_;                     ///< the last of them
  Shortage shortage_;
  FdCrowd events_;   ///< v1
  Inotify inotify_;  ///< v2. These are last: their handlers use the members above
};

}  // namespace kcg
