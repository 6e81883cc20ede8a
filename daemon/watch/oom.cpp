// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/oom.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "kernel/keyed.hpp"

namespace kcg {

namespace {

Fd open_file(const std::string& path, int flags) {
  return Fd(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW));
}

/// nullopt: the group is gone.
std::optional<std::uint64_t> count_kills(const Fd& file) {
  std::array<char, 1024> text;
  const auto size = ::pread(file.get(), text.data(), text.size(), 0);
  if (size < 0) return std::nullopt;
  return keyed_value({text.data(), static_cast<std::size_t>(size)}, "oom_kill").value_or(0);
}

}  // namespace

Result<std::unique_ptr<OomWatch>> OomWatch::create(Loop& loop, const Host& host, bool may_write,
                                                   HintSink sink) {
  std::unique_ptr<OomWatch> self(new OomWatch(loop, host, may_write, std::move(sink)));
  auto inotify = Inotify::create(
      loop, [raw = self.get()](int wd, std::uint32_t, std::string_view) { raw->on_event(wd); });
  if (!inotify) return forward(inotify.error(), "memory events");
  self->inotify_ = std::move(*inotify);
  return self;
}

void OomWatch::watch(const std::string& id, const std::vector<GroupRef>& groups) {
  auto before = std::exchange(watched_[id], {});
  auto& now = watched_[id];
  for (const auto& group : groups) {
    auto known = before.extract(group);
    if (!known.empty() && count_kills(known.mapped().file)) {
      now.insert(std::move(known));
      continue;
    }
    if (!known.empty()) drop(known.mapped());
    Watched fresh;
    if (listen(id, group, fresh)) now.emplace(group, std::move(fresh));
  }
  for (auto& [group, watched] : before) drop(watched);
  if (now.empty()) watched_.erase(id);
}

void OomWatch::unwatch(const std::string& id) { watch(id, {}); }

std::size_t OomWatch::size() const {
  std::size_t count = 0;
  for (const auto& [id, groups] : watched_) count += groups.size();
  return count;
}

bool OomWatch::listen(const std::string& id, const GroupRef& group, Watched& watched) {
  const auto* hierarchy = host_.find(group.hierarchy);
  if (hierarchy == nullptr) return false;
  const auto directory = hierarchy->mount_point + (group.path.is_root() ? "" : group.path.str());
  return hierarchy->unified ? listen_unified(directory, watched)
                            : may_write_ && listen_v1(id, directory, watched);
}

bool OomWatch::listen_unified(const std::string& directory, Watched& watched) {
  const auto path = directory + "/memory.events";
  watched.file = open_file(path, O_RDONLY);
  if (!watched.file) return false;
  const auto wd = inotify_->add(path, IN_MODIFY | IN_DONT_FOLLOW);
  if (!wd) return false;
  watched.wd = *wd;
  watched.kills = count_kills(watched.file).value_or(0);
  return true;
}

/// See the kernel's documentation of cgroup v1, "cgroups notification API".
bool OomWatch::listen_v1(const std::string& id, const std::string& directory, Watched& watched) {
  watched.file = open_file(directory + "/memory.oom_control", O_RDONLY);
  watched.event = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const auto control = open_file(directory + "/cgroup.event_control", O_WRONLY);
  if (!watched.file || !watched.event || !control) return false;
  const auto request = fmt::format("{} {}", watched.event.get(), watched.file.get());
  if (::write(control.get(), request.data(), request.size()) < 0) return false;
  auto source = loop_.on_fd(watched.event.get(), EPOLLIN,
                            [this, id, event = watched.event.get()](std::uint32_t) {
                              std::uint64_t count = 0;
                              (void)::read(event, &count, sizeof count);  // ignored: how many
                              sink_({HintKind::group, id, 0});
                            });
  if (!source) return false;
  watched.source = std::move(*source);
  return true;
}

/// A pod's group may be watched for another sandbox, too; both share the kernel's watch.
void OomWatch::drop(Watched& watched) {
  const int wd = std::exchange(watched.wd, -1);
  if (wd < 0) return;
  for (const auto& [id, groups] : watched_)
    for (const auto& [group, other] : groups)
      if (other.wd == wd) return;
  inotify_->remove(wd);
}

/// wd -1: events were lost, so every count is compared.
void OomWatch::on_event(int wd) {
  std::set<std::string> grown;
  for (auto& [id, groups] : watched_)
    for (auto& [group, watched] : groups) {
      if (watched.wd < 0 || (wd >= 0 && watched.wd != wd)) continue;
      const auto kills = count_kills(watched.file);
      if (kills && std::exchange(watched.kills, *kills) != *kills) grown.insert(id);
    }
  for (const auto& id : grown) sink_({HintKind::group, id, 0});
}

}  // namespace kcg
