// SPDX-License-Identifier: Apache-2.0
//
// Control files that somebody else writes, or that the kernel raises (L6): cgroup.procs, tasks and
// cpuset.cpus of Kata's groups, cgroup.events and memory.events of ours.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "daemon/watch/inotify.hpp"
#include "model/host.hpp"

namespace kcg {

/// Value: one control file of one group; no file: the group's children as they come and go.
struct GroupFile {
  GroupRef group;
  std::string file;
  auto operator<=>(const GroupFile&) const = default;
};

/// Resource: HintKind::group with the sandbox id whenever a watched file is written, by us too;
/// HintKind::rescan after lost events. The kernel tells nobody that a watched file's own group was
/// removed: whoever cares watches the parent's children.
class GroupWatch final {
 public:
  [[nodiscard]] static Result<std::unique_ptr<GroupWatch>> create(Loop& loop, const Host& host,
                                                                  HintSink sink);

  /// From now on exactly these files are watched for `id`. Files that do not exist are left out;
  /// naming one again after its group was made anew watches the new one. An error names the first
  /// file that could not be watched; the others are.
  [[nodiscard]] Status watch(const std::string& id, const std::vector<GroupFile>& files);
  void unwatch(const std::string& id);
  [[nodiscard]] std::size_t size() const { return ids_.size(); }

 private:
  GroupWatch(const Host& host, HintSink sink) : host_(host), sink_(std::move(sink)) {}
  void on_event(int wd, std::uint32_t mask);
  void drop(const std::string& id, int wd);

  Host host_;
  HintSink sink_;
  std::map<int, std::set<std::string>> ids_;  ///< by watch: Kata's groups may be shared
  std::map<std::string, std::map<GroupFile, int>> files_;  ///< by sandbox
  std::unique_ptr<Inotify> inotify_;  ///< last: its handler uses the members above
};

}  // namespace kcg
