// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/groups.hpp"

#include <fcntl.h>
#include <sys/inotify.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "base/dir.hpp"
#include "base/text.hpp"
#include "kernel/keyed.hpp"
#include "model/errnos.hpp"
#include "model/limit_files.hpp"

namespace kcg {

namespace {

/// IN_MASK_ADD: a directory may be watched for several things.
std::uint32_t mask_of(GroupNews news) {
  constexpr std::uint32_t kDirectory = IN_ONLYDIR | IN_DONT_FOLLOW | IN_MASK_ADD;
  if (news == GroupNews::population) return IN_MODIFY | IN_DONT_FOLLOW;
  return kDirectory | (news == GroupNews::child ? IN_CREATE | IN_DELETE : IN_MODIFY);
}

constexpr const char* kPopulationFile = "cgroup.events";

bool places_tasks(std::string_view file) {
  return file == "cgroup.procs" || file == "tasks" || file == "cpuset.cpus";
}

constexpr std::size_t kMostBytes = 4096;  ///< of cgroup.events, or of a limit

constexpr const char* kMissedGroups =
    "changes by others to groups without a watch are found when everything is looked at again "
    "(reconcile.interval)";

/// nullopt: there is no such hierarchy.
std::optional<std::string> path_of(const Host& host, const GroupRef& group, GroupNews news) {
  const auto* hierarchy = host.find(group.hierarchy);
  if (hierarchy == nullptr) return std::nullopt;
  auto path = hierarchy->mount_point;
  if (!group.path.is_root()) path += group.path.str();
  path += '/';
  if (news == GroupNews::population) path += kPopulationFile;
  return path;
}

Result<std::string> text_of(const std::string& file) {
  const Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  return fd ? read_all(fd.get(), kMostBytes) : fail(errno, "{}", file);
}

/// nullopt: unknown.
std::optional<bool> populated_by(const std::string& file) {
  const auto text = text_of(file);
  const auto value = text ? keyed_value(*text, "populated") : forward(text.error());
  return value ? std::optional(*value != 0) : std::nullopt;
}

/// Whether what was written is still there.
bool says(const Host& host, const WrittenLimit& limit) {
  const auto directory = path_of(host, limit.group, GroupNews::limits);
  const auto text = directory ? text_of(*directory + limit.file) : fail(ENOENT, "no hierarchy");
  return text && trim(*text) == limit.value;
}

}  // namespace

GroupWatch::GroupWatch(Loop& loop, const Host& host, HintSink sink, TellHealth tell)
    : host_(host),
      sink_(std::move(sink)),
      shortage_(loop, std::move(tell), kMissedGroups, [this] { return retry(); }),
      inotify_(loop, [this](int wd, std::uint32_t mask, std::string_view name) {
        on_event(wd, mask, name);
      }) {}

std::size_t GroupWatch::size() const {
  std::set<int> watches;
  for (const auto& listener : listeners_) watches.insert(listener.wd);
  for (const auto& [child, ids] : children_) watches.insert(child.wd);
  return watches.size();
}

void GroupWatch::watch(const SandboxId& id, const std::vector<GroupInterest>& interests,
                       const std::set<GroupRef>& populated) {
  auto& [key, all] = *heard_.try_emplace(id).first;
  const auto before = all;  // they stay until all is asked for, also if it throws
  refused_.erase(id);
  // Asked for every time, but for each child of one directory: it costs some microseconds, and
  // tells a group that was made anew from the old one, whose end nobody tells: a watch keeps its
  // inode, which has links to its end.
  const GroupInterest* asked = nullptr;
  Result<int> wd = 0;
  for (const auto& interest : interests) {
    if (asked == nullptr || asked->group != interest.group || asked->news != interest.news)
      wd = add(interest);
    asked = &interest;
    const auto listening = listen(key, interest, wd, populated.contains(interest.group));
    if (!listening) shortage_.begin(listening.error());
  }
  const auto only_now = [this, &key = key](const auto& then, auto& now) {
    now = {now.begin() + static_cast<std::ptrdiff_t>(then.size()), now.end()};
    std::sort(now.begin(), now.end());
    for (const auto& one : then)
      if (!std::binary_search(now.begin(), now.end(), one)) drop(key, one);
  };
  only_now(before.groups, all.groups);
  only_now(before.children, all.children);
  if (all.groups.empty() && all.children.empty()) heard_.erase(id);
}

/// ENOENT: there is no such file. Others: there is no room.
Result<int> GroupWatch::add(const GroupInterest& interest) {
  const auto path = path_of(host_, interest.group, interest.news);
  if (!path) return fail(ENOENT, "no hierarchy {}", interest.group.hierarchy.str());
  return inotify_.add(*path, mask_of(interest.news));
}

/// An error: there is no room. That there is no such file is none. `id` is a key of heard_.
Status GroupWatch::listen(const SandboxId& id, const GroupInterest& interest, const Result<int>& wd,
                          bool populated) {
  if (!wd && errnos::no_file(wd.error().code)) return {};
  if (!wd) {
    refused_[id].push_back(interest);
    return forward(wd.error());
  }
  if (interest.news == GroupNews::population) populations_.try_emplace(*wd, interest.group);
  if (interest.news == GroupNews::child)
    listen_to_child(id, {*wd, interest.child});
  else
    listen_to_group(id, {*wd, interest.news}, populated);
  return {};
}

void GroupWatch::listen_to_child(const SandboxId& id, Child child) {
  auto& ids = children_[child];
  if (std::find(ids.begin(), ids.end(), &id) == ids.end()) ids.push_back(&id);
  heard_[id].children.push_back(std::move(child));
}

void GroupWatch::listen_to_group(const SandboxId& id, Heard heard, bool populated) {
  heard_[id].groups.push_back(heard);
  const Listener wanted{heard.wd, heard.news, populated, &id};
  const auto known = find(wanted);
  if (known != listeners_.end())
    known->populated = populated;
  else
    listeners_.insert(wanted);
}

/// The same one's in the same news.
GroupWatch::Listeners::iterator GroupWatch::find(const Listener& wanted) {
  const auto [first, last] = listeners_.equal_range(wanted);
  const auto found = std::find_if(first, last, [&](const Listener& one) {
    return one.id == wanted.id && one.news == wanted.news;
  });
  return found == last ? listeners_.end() : found;
}

void GroupWatch::unwatch(const SandboxId& id) {
  refused_.erase(id);
  const auto found = heard_.find(id);
  if (found == heard_.end()) return;
  const auto& [key, all] = *found;
  for (const auto& heard : all.groups) drop(key, heard);
  for (const auto& child : all.children) drop(key, child);
  heard_.erase(found);
}

/// Its watch may be gone already.
void GroupWatch::drop(const SandboxId& id, const Heard& heard) {
  const auto found = find({heard.wd, heard.news, false, &id});
  if (found == listeners_.end()) return;
  listeners_.erase(found);
  drop_unused(heard.wd);
}

/// The same.
void GroupWatch::drop(const SandboxId& id, const Child& child) {
  const auto found = children_.find(child);
  if (found == children_.end()) return;
  std::erase(found->second, &id);
  if (found->second.empty()) children_.erase(found);
  drop_unused(child.wd);
}

void GroupWatch::drop_unused(int wd) {
  if (used(wd)) return;
  populations_.erase(wd);
  inotify_.remove(wd);
}

bool GroupWatch::used(int wd) const {
  const auto child = children_.lower_bound(ByName::Name(wd, ""));
  return listeners_.contains({wd}) || (child != children_.end() && child->first.wd == wd);
}

Status GroupWatch::retry() {
  for (auto waiting = std::exchange(refused_, {}); !waiting.empty();) {
    const auto one = waiting.extract(waiting.begin());
    const auto& key = heard_.try_emplace(one.key()).first->first;
    std::optional<Error> refusal;
    for (const auto& interest : one.mapped())
      if (const auto heard = listen(key, interest, add(interest), false); !heard)
        refusal = heard.error();
    if (refusal) {
      refused_.merge(waiting);  // what there is no room for there is no room for others
      return forward(*refusal);
    }
    sink_({HintKind::group, key.str(), 0});  // whatever was missed meanwhile
  }
  return {};
}

/// nullopt: nobody listens.
std::optional<int> GroupWatch::limits_watch(const GroupRef& group) {
  const auto wd = add({group, GroupNews::limits});  // the one that there is, as a rule
  if (!wd) return std::nullopt;
  if (!used(*wd)) inotify_.remove(*wd);
  return listeners_.contains({*wd}) ? std::optional(*wd) : std::nullopt;
}

void GroupWatch::wrote(const std::vector<WrittenLimit>& limits) {
  std::vector<Own> heard;
  for (const auto& limit : limits)
    if (const auto wd = limits_watch(limit.group)) heard.emplace_back(*wd, &limit);
  if (heard.empty()) return;
  hear_without(heard);
  for (const auto& [wd, limit] : heard)
    if (!says(host_, *limit)) on_event(wd, IN_MODIFY, limit->file);
}

/// All that the kernel has told so far, but for these writes.
void GroupWatch::hear_without(const std::vector<Own>& writes) {
  struct Forgotten {
    std::set<std::pair<int, std::string_view>>& writes;
    ~Forgotten() { writes.clear(); }
  } const in_the_end{own_};
  for (const auto& [wd, limit] : writes) own_.emplace(wd, limit->file);
  inotify_.hear();
}

void GroupWatch::on_event(int wd, std::uint32_t mask, std::string_view name) {
  if ((mask & IN_Q_OVERFLOW) != 0) return sink_({HintKind::rescan, "", 0});
  if (own_.contains({wd, name})) return;
  const auto ids = concerned(wd, mask, name);  // a hint may change what is watched
  const auto kind = kind_of(wd, mask);
  if ((mask & IN_IGNORED) != 0) forget(wd);
  for (const auto& id : ids) sink_({kind, id.str(), 0});
}

HintKind GroupWatch::kind_of(int wd, std::uint32_t mask) const {
  if ((mask & IN_CREATE) != 0) return HintKind::made_group;
  const bool population = (mask & IN_MODIFY) != 0 && populations_.contains(wd);
  return population ? HintKind::population : HintKind::group;
}

/// The kernel has dropped the watch.
void GroupWatch::forget(int wd) {
  listeners_.erase(Listener{wd});
  populations_.erase(wd);
  children_.erase(children_.lower_bound(ByName::Name(wd, "")),
                  children_.lower_bound(ByName::Name(wd + 1, "")));
}

GroupWatch::Ids GroupWatch::concerned(int wd, std::uint32_t mask, std::string_view name) const {
  const bool ended = (mask & IN_IGNORED) != 0;
  const bool written = (mask & IN_MODIFY) != 0;
  // Our own moves, and what a guest makes its groups count, are no writes to a limit.
  const bool tasks = ended || (written && places_tasks(name));
  const bool limits = ended || (written && is_limit_file(name));
  // Our own moves raise it, too, and are heard some milliseconds after the look that saw them.
  const auto population = populations_.find(wd);
  const auto path = !ended && population != populations_.end()
                        ? path_of(host_, population->second, GroupNews::population)
                        : std::nullopt;
  const bool occupied = path && populated_by(*path).value_or(false);
  Ids ids;
  const auto [first, last] = listeners_.equal_range({wd});
  for (auto it = first; it != last; ++it) {
    const auto& listener = *it;
    const bool told = listener.news == GroupNews::tasks    ? tasks
                      : listener.news == GroupNews::limits ? limits
                                                           : !listener.populated || !occupied;
    if (told) ids.insert(*listener.id);
  }
  add_children(wd, mask, name, ids);
  return ids;
}

void GroupWatch::add_children(int wd, std::uint32_t mask, std::string_view name, Ids& ids) const {
  const auto add = [&](const auto& first, const auto& last) {
    for (auto it = first; it != last; ++it)
      for (const auto* id : it->second) ids.insert(*id);
  };
  if ((mask & IN_IGNORED) != 0) {
    add(children_.lower_bound(ByName::Name(wd, "")),
        children_.lower_bound(ByName::Name(wd + 1, "")));
  } else if ((mask & (IN_CREATE | IN_DELETE)) != 0) {
    const auto [first, last] = children_.equal_range(ByName::Name(wd, name));
    add(first, last);
  }
}

}  // namespace kcg
