// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/groups.hpp"

#include <sys/inotify.h>

#include <cerrno>
#include <optional>
#include <utility>

namespace kcg {

namespace {

constexpr std::uint32_t kWritten = IN_MODIFY;
constexpr std::uint32_t kChildren = IN_CREATE | IN_DELETE | IN_ONLYDIR;

std::optional<std::string> path_of(const Host& host, const GroupFile& file) {
  const auto* hierarchy = host.find(file.group.hierarchy);
  if (hierarchy == nullptr) return std::nullopt;
  const auto& group = file.group.path;
  return hierarchy->mount_point + (group.is_root() ? "" : group.str()) + "/" + file.file;
}

}  // namespace

Result<std::unique_ptr<GroupWatch>> GroupWatch::create(Loop& loop, const Host& host,
                                                       HintSink sink) {
  std::unique_ptr<GroupWatch> self(new GroupWatch(host, std::move(sink)));
  auto inotify =
      Inotify::create(loop, [raw = self.get()](int wd, std::uint32_t mask, std::string_view) {
        raw->on_event(wd, mask);
      });
  if (!inotify) return forward(inotify.error(), "groups");
  self->inotify_ = std::move(*inotify);
  return self;
}

Status GroupWatch::watch(const std::string& id, const std::vector<GroupFile>& files) {
  std::map<GroupFile, int> before = std::exchange(files_[id], {});
  Status result;
  for (const auto& file : files) {
    const auto path = path_of(host_, file);
    if (!path) continue;
    // Asked for every time: it costs 2 us, and tells a group that was made anew from the old one.
    const auto mask = file.file.empty() ? kChildren : kWritten;
    const auto wd = inotify_->add(*path, mask | IN_DONT_FOLLOW);
    if (!wd && wd.error().code != ENOENT && result) result = forward(wd.error());
    if (!wd) continue;
    files_[id][file] = *wd;
    ids_[*wd].insert(id);
  }
  for (const auto& [file, wd] : before) {
    const auto now = files_[id].find(file);
    if (now == files_[id].end() || now->second != wd) drop(id, wd);
  }
  if (files_[id].empty()) files_.erase(id);
  return result;
}

void GroupWatch::unwatch(const std::string& id) {
  const auto files = files_.extract(id);
  if (files.empty()) return;
  for (const auto& [file, wd] : files.mapped()) drop(id, wd);
}

void GroupWatch::drop(const std::string& id, int wd) {
  const auto found = ids_.find(wd);
  if (found == ids_.end()) return;
  found->second.erase(id);
  if (!found->second.empty()) return;
  ids_.erase(found);
  inotify_->remove(wd);
}

void GroupWatch::on_event(int wd, std::uint32_t mask) {
  if ((mask & IN_Q_OVERFLOW) != 0) return sink_({HintKind::rescan, "", 0});
  const auto found = ids_.find(wd);
  if (found == ids_.end()) return;
  const auto ids = found->second;  // a copy: a hint may change what is watched
  if ((mask & IN_IGNORED) != 0) ids_.erase(found);
  for (const auto& id : ids) sink_({HintKind::group, id, 0});
}

}  // namespace kcg
