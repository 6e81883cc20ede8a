// SPDX-License-Identifier: Apache-2.0
//
// Control files that somebody else writes, or that the kernel raises (L8): those of Kata's groups
// that place tasks, cgroup.events and the limits of ours.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/watch/inotify.hpp"
#include "daemon/watch/shortage.hpp"
#include "model/host.hpp"

namespace kcg {

/// What is watched of a group. Its directory, which tells of writes to any file in it: groups
/// directly below as they come and go; files whose writing may have moved a task of ours, or
/// brought the kubelet's choice of CPUs; all files that limit it.
inline constexpr const char* kChildren = "";
inline constexpr const char* kTaskFiles = "+";
inline constexpr const char* kLimitFiles = "*";
/// A file: tells whether there is a task in the group or below it. v2 only.
inline constexpr const char* kPopulation = "cgroup.events";

/// Value: one of the above, of one group.
struct GroupFile {
  GroupRef group;
  std::string file;
  std::string child = {};  ///< kChildren: the one that matters, "" for each
  auto operator<=>(const GroupFile&) const = default;
};

/// Resource: HintKind::group with the sandbox id whenever a watched file is written, by us too;
/// HintKind::rescan after lost events. The kernel tells nobody that a watched file's own group was
/// removed: whoever cares watches it as its parent's child. What happens to other children of a
/// group that many share wakes nobody.
class GroupWatch final {
 public:
  GroupWatch(Loop& loop, const Host& host, HintSink sink, TellHealth tell);

  /// From now on exactly these files are watched for `id`. Files that do not exist are left out;
  /// naming one again after its group was made anew watches the new one. What there is no room for
  /// is tried again, and a hint follows when it has worked. A kPopulation wakes nobody who has seen
  /// a task where one is now: `populated` are the groups in which one was seen last. Who comes and
  /// goes between two looks is told.
  void watch(const std::string& id, const std::vector<GroupFile>& files,
             const std::set<GroupRef>& populated = {});
  /// Tells at once what the kernel has told so far.
  void hear() { inotify_.hear(); }
  void unwatch(const std::string& id);
  [[nodiscard]] std::size_t size() const { return listeners_.size(); }

 private:
  using Ids = std::set<std::string>;
  /// Value: the sandboxes that one watch concerns.
  struct Listeners {
    Ids tasks;                                         ///< a directory: writes that move
    Ids limits;                                        ///< the same: writes to its limits
    std::map<std::string, Ids, std::less<>> children;  ///< the same: by GroupFile::child
    std::map<std::string, bool> population;            ///< it watches that: a task was seen in it
    std::string population_file;                       ///< path
    [[nodiscard]] bool empty() const {
      return tasks.empty() && limits.empty() && children.empty() && population.empty();
    }
  };
  static constexpr int kRefused = -1;
  /// What the kernel said in one call, by path and what is watched of it.
  using Watched = std::map<std::pair<std::string, std::string>, Result<int>>;

  void on_event(int wd, std::uint32_t mask, std::string_view name);
  [[nodiscard]] static Ids concerned(const Listeners& listeners, std::uint32_t mask,
                                     std::string_view name);
  [[nodiscard]] Status listen(const std::string& id, const GroupFile& file, bool populated,
                              Watched& watched);
  void drop(const std::string& id, const GroupFile& file, int wd);
  [[nodiscard]] Status retry();

  Host host_;
  HintSink sink_;
  std::map<int, Listeners> listeners_;  ///< by watch: Kata's groups may be shared
  std::map<std::string, std::map<GroupFile, int>> files_;  ///< by sandbox; kRefused: not yet
  std::set<std::string> refused_;                          ///< sandboxes with such files
  Shortage shortage_;
  Inotify inotify_;  ///< last: its handler uses the members above
};

}  // namespace kcg
