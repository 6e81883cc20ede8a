// SPDX-License-Identifier: Apache-2.0
//
// Control files that somebody else writes, or that the kernel raises (L9): those of Kata's groups
// that place tasks, cgroup.events and the limits of ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "daemon/watch/inotify.hpp"
#include "daemon/watch/shortage.hpp"
#include "model/host.hpp"

namespace kcg {

/// What is heard of a group: by a watch of its directory, or of a file in it.
enum class GroupNews : std::uint8_t {
  child,       ///< a group directly below it comes or goes
  tasks,       ///< a write that may have moved a task of ours, or brought the kubelet's CPUs
  limits,      ///< a write to any file that limits it
  population,  ///< cgroup.events: whether there is a task in it or below it. v2 only
};

/// Value: one of the above, of one group.
struct GroupInterest {
  GroupRef group;
  GroupNews news = GroupNews::tasks;
  CgroupPath child = {};  ///< GroupNews::child: the one that matters
};

/// Value: what was written into a file that limits a group.
struct WrittenLimit {
  GroupRef group;
  std::string file;
  std::string value;
};

/// Resource: HintKind::group with the sandbox id whenever a watched file is written, by us too
/// unless wrote() says so, HintKind::population where it is cgroup.events, HintKind::made_group
/// where a child was made, HintKind::rescan after lost events. The kernel tells nobody that a
/// watched file's own group was removed: whoever cares watches it as its parent's child. What
/// happens to other children of a group that many share wakes nobody.
class GroupWatch final {
 public:
  GroupWatch(Loop& loop, const Host& host, HintSink sink, TellHealth tell);

  /// From now on exactly these are heard for `id`. Groups that do not exist are left out; naming
  /// one again after it was made anew watches the new one. What there is no room for is tried
  /// again, and a hint follows when it has worked. GroupNews::population wakes nobody who has seen
  /// a task where one is now: `populated` are the groups in which one was seen last. Who comes and
  /// goes between two looks is told.
  void watch(const SandboxId& id, const std::vector<GroupInterest>& interests,
             const std::set<GroupRef>& populated = {});
  /// Tells at once what the kernel has told so far.
  void hear() { inotify_.hear(); }
  /// It was us, just now: of what the kernel has told so far these writes concern nobody. Whoever
  /// listens is told where a file says something else by now. All else is told at once.
  void wrote(const std::vector<WrittenLimit>& limits);
  void unwatch(const SandboxId& id);
  /// Whether all that is to be heard for `id` is, as far as it exists.
  [[nodiscard]] bool hears(const SandboxId& id) const {
    return heard_.contains(id) && !refused_.contains(id);
  }
  [[nodiscard]] std::size_t size() const;

 private:
  using Ids = std::set<SandboxId>;
  /// Value: whom a watch concerns, beside its children. Small: see listeners_.
  struct Listener {
    int wd = 0;
    GroupNews news = GroupNews::tasks;
    mutable bool populated = false;  ///< a task was seen in it
    const SandboxId* id = nullptr;   ///< a key of heard_
  };
  struct ByWatch {
    std::size_t operator()(const Listener& one) const { return std::hash<int>()(one.wd); }
    bool operator()(const Listener& a, const Listener& b) const { return a.wd == b.wd; }
  };
  using Listeners = std::unordered_multiset<Listener, ByWatch, ByWatch>;
  /// Value: an interest that has a watch, but for a child.
  struct Heard {
    int wd = 0;
    GroupNews news = GroupNews::tasks;
    auto operator<=>(const Heard&) const = default;
  };
  /// Value: a name in a watched directory.
  struct Child {
    int wd = 0;
    CgroupPath path;
    auto operator<=>(const Child&) const = default;
  };
  /// Value: all that a sandbox listens to. Few have a child.
  struct Listening {
    std::vector<Heard> groups;
    std::vector<Child> children;
  };
  struct ByName {
    using is_transparent = void;
    using Name = std::pair<int, std::string_view>;
    static Name name(const Child& child) { return {child.wd, child.path.name()}; }
    static Name name(const Name& name) { return name; }
    bool operator()(const auto& a, const auto& b) const { return name(a) < name(b); }
  };

  using Own = std::pair<int, const WrittenLimit*>;  ///< a watch, and what was written there

  void hear_without(const std::vector<Own>& writes);
  void on_event(int wd, std::uint32_t mask, std::string_view name);
  [[nodiscard]] HintKind kind_of(int wd, std::uint32_t mask) const;
  [[nodiscard]] Ids concerned(int wd, std::uint32_t mask, std::string_view name) const;
  void add_children(int wd, std::uint32_t mask, std::string_view name, Ids& ids) const;
  [[nodiscard]] Result<int> add(const GroupInterest& interest);
  [[nodiscard]] std::optional<int> limits_watch(const GroupRef& group);
  [[nodiscard]] bool used(int wd) const;
  [[nodiscard]] Status listen(const SandboxId& id, const GroupInterest& interest,
                              const Result<int>& wd, bool populated);
  void listen_to_child(const SandboxId& id, Child child);
  void listen_to_group(const SandboxId& id, Heard heard, bool populated);
  [[nodiscard]] Listeners::iterator find(const Listener& wanted);
  void drop(const SandboxId& id, const Heard& heard);
  void drop(const SandboxId& id, const Child& child);
  void drop_unused(int wd);
  void forget(int wd);
  [[nodiscard]] Status retry();

  Host host_;
  HintSink sink_;
  // Small, for there are some twenty watches of each sandbox on v1.
  std::map<SandboxId, Listening> heard_;
  Listeners listeners_;                                              ///< Kata's may share a watch
  std::map<Child, std::vector<const SandboxId*>, ByName> children_;  ///< whom each concerns
  std::map<int, GroupRef> populations_;                              ///< by watch of cgroup.events
  std::map<SandboxId, std::vector<GroupInterest>> refused_;
  std::set<std::pair<int, std::string_view>> own_;  ///< files of watches, in hear_without()
  Shortage shortage_;
  Inotify inotify_;  ///< last: its handler uses the members above
};

}  // namespace kcg
