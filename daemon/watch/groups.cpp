// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/groups.hpp"

#include <fcntl.h>
#include <sys/inotify.h>

#include <cerrno>
#include <utility>

#include "base/dir.hpp"
#include "kernel/keyed.hpp"
#include "model/errnos.hpp"
#include "model/limit_files.hpp"

namespace kcg {

namespace {

/// IN_MASK_ADD: a directory may be watched for several things.
std::uint32_t mask_of(const GroupFile& file) {
  constexpr std::uint32_t kDirectory = IN_ONLYDIR | IN_DONT_FOLLOW | IN_MASK_ADD;
  if (file.file == kPopulation) return IN_MODIFY | IN_DONT_FOLLOW;
  return kDirectory | (file.file == kChildren ? IN_CREATE | IN_DELETE : IN_MODIFY);
}

bool places_tasks(std::string_view file) {
  return file == "cgroup.procs" || file == "tasks" || file == "cpuset.cpus";
}

constexpr std::size_t kMostEvents = 4096;

constexpr const char* kMissedGroups =
    "changes by others to groups without a watch are found when everything is looked at again "
    "(reconcile.interval)";

std::optional<std::string> path_of(const Host& host, const GroupFile& file) {
  const auto* hierarchy = host.find(file.group.hierarchy);
  if (hierarchy == nullptr) return std::nullopt;
  const auto& group = file.group.path;
  const auto directory = hierarchy->mount_point + (group.is_root() ? "" : group.str()) + "/";
  return file.file == kPopulation ? directory + file.file : directory;
}

/// nullopt: unknown.
std::optional<bool> populated_by(const std::string& file) {
  const Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  const auto text = fd ? read_all(fd.get(), kMostEvents) : fail(errno, "{}", file);
  const auto value = text ? keyed_value(*text, "populated") : forward(text.error());
  return value ? std::optional(*value != 0) : std::nullopt;
}

}  // namespace

GroupWatch::GroupWatch(Loop& loop, const Host& host, HintSink sink, TellHealth tell)
    : host_(host),
      sink_(std::move(sink)),
      shortage_(loop, std::move(tell), kMissedGroups, [this] { return retry(); }),
      inotify_(loop, [this](int wd, std::uint32_t mask, std::string_view name) {
        on_event(wd, mask, name);
      }) {}

void GroupWatch::watch(const std::string& id, const std::vector<GroupFile>& files,
                       const std::set<GroupRef>& populated) {
  const auto before = std::exchange(files_[id], {});
  refused_.erase(id);
  // Asked for every time, but for each child of one directory: it costs some microseconds, and
  // tells a group that was made anew from the old one.
  Watched watched;
  for (const auto& file : files)
    if (const auto heard = listen(id, file, populated.contains(file.group), watched); !heard)
      shortage_.begin(heard.error());
  const auto& now = files_[id];
  for (const auto& [file, wd] : before) {
    const auto same = now.find(file);
    if (wd != kRefused && (same == now.end() || same->second != wd)) drop(id, file, wd);
  }
  if (now.empty()) files_.erase(id);
}

/// An error: there is no room. That there is no such file is none.
Status GroupWatch::listen(const std::string& id, const GroupFile& file, bool populated,
                          Watched& watched) {
  const auto path = path_of(host_, file);
  if (!path) return {};
  const auto [known, fresh] = watched.try_emplace({*path, file.file});
  if (fresh) known->second = inotify_.add(*path, mask_of(file));
  const auto& wd = known->second;
  if (!wd && errnos::no_file(wd.error().code)) {
    files_[id].erase(file);
    return {};
  }
  files_[id][file] = wd.value_or(kRefused);
  if (!wd) {
    refused_.insert(id);
    return forward(wd.error());
  }
  auto& listeners = listeners_[*wd];
  if (file.file == kChildren) {
    listeners.children[file.child].insert(id);
  } else if (file.file == kPopulation) {
    listeners.population[id] = populated;
    listeners.population_file = *path;
  } else {
    (file.file == kLimitFiles ? listeners.limits : listeners.tasks).insert(id);
  }
  return {};
}

void GroupWatch::unwatch(const std::string& id) {
  refused_.erase(id);
  const auto files = files_.extract(id);
  if (files.empty()) return;
  for (const auto& [file, wd] : files.mapped())
    if (wd != kRefused) drop(id, file, wd);
}

void GroupWatch::drop(const std::string& id, const GroupFile& file, int wd) {
  const auto found = listeners_.find(wd);
  if (found == listeners_.end()) return;
  auto& listeners = found->second;
  if (file.file == kChildren) {
    auto& ids = listeners.children[file.child];
    ids.erase(id);
    if (ids.empty()) listeners.children.erase(file.child);
  } else if (file.file == kPopulation) {
    listeners.population.erase(id);
  } else {
    (file.file == kLimitFiles ? listeners.limits : listeners.tasks).erase(id);
  }
  if (!listeners.empty()) return;
  listeners_.erase(found);
  inotify_.remove(wd);
}

Status GroupWatch::retry() {
  for (const auto& id : std::set<std::string>(refused_)) {
    Watched watched;
    for (const auto& [file, wd] : std::map<GroupFile, int>(files_[id]))
      if (wd == kRefused)
        if (auto heard = listen(id, file, false, watched); !heard) return heard;
    refused_.erase(id);
    sink_({HintKind::group, id, 0});  // whatever was missed meanwhile
  }
  return {};
}

void GroupWatch::on_event(int wd, std::uint32_t mask, std::string_view name) {
  if ((mask & IN_Q_OVERFLOW) != 0) return sink_({HintKind::rescan, "", 0});
  const auto found = listeners_.find(wd);
  if (found == listeners_.end()) return;
  const auto ids = concerned(found->second, mask, name);  // a hint may change what is watched
  if ((mask & IN_IGNORED) != 0) listeners_.erase(found);
  for (const auto& id : ids) sink_({HintKind::group, id, 0});
}

GroupWatch::Ids GroupWatch::concerned(const Listeners& listeners, std::uint32_t mask,
                                      std::string_view name) {
  const bool ended = (mask & IN_IGNORED) != 0;
  const bool written = (mask & IN_MODIFY) != 0;
  Ids ids = ended || (written && places_tasks(name)) ? listeners.tasks : Ids{};
  // Our own moves, and what a guest makes its groups count, are no writes to a limit.
  if (ended || (written && is_limit_file(name)))
    ids.insert(listeners.limits.begin(), listeners.limits.end());
  if (ended)
    for (const auto& [child, listening] : listeners.children)
      ids.insert(listening.begin(), listening.end());
  // Our own moves raise it, too, and are heard some milliseconds after the look that saw them.
  if (!listeners.population.empty()) {
    const auto now = ended ? std::nullopt : populated_by(listeners.population_file);
    for (const auto& [id, seen] : listeners.population)
      if (!seen || !now.value_or(false)) ids.insert(id);
  }
  if ((mask & (IN_CREATE | IN_DELETE)) == 0) return ids;
  for (const auto child : {std::string_view(), name})
    if (const auto found = listeners.children.find(child); found != listeners.children.end())
      ids.insert(found->second.begin(), found->second.end());
  return ids;
}

}  // namespace kcg
