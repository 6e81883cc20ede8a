// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/oom.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "daemon/watch/kept_fd.hpp"
#include "kernel/keyed.hpp"
#include "model/errnos.hpp"

namespace kcg {

namespace {

constexpr const char* kMissedOoms =
    "what the kernel kills in groups without a watch is seen when everything is looked at again "
    "(reconcile.interval)";

Result<Fd> open_file(const std::string& path, int flags) {
  Fd fd(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW));
  const int code = errno;
  if (!fd) return fail(code, "open {}: {}", path, errno_text(code));
  return fd;
}

/// As long as the group is watched.
Result<Fd> open_kept(const std::string& path) {
  auto file = open_file(path, O_RDONLY);
  if (!file) return file;
  auto room = kept(std::move(*file));
  if (!room) return forward(room.error(), fmt::format("open {}", path));
  return room;
}

/// There is no such group, or it has no such file.
bool absent(const Error& error) {
  return errnos::no_group_file(error.code) || error.code == EINVAL;
}

/// nullopt: the group is gone.
std::optional<std::uint64_t> count_kills(const Fd& file) {
  std::array<char, 1024> text;
  const auto size = ::pread(file.get(), text.data(), text.size(), 0);
  if (size < 0) return std::nullopt;
  return keyed_value({text.data(), static_cast<std::size_t>(size)}, "oom_kill").value_or(0);
}

}  // namespace

OomWatch::OomWatch(Loop& loop, const Host& host, bool may_write, HintSink sink, TellHealth tell)
    : host_(host),
      may_write_(may_write),
      sink_(std::move(sink)),
      shortage_(loop, std::move(tell), kMissedOoms, [this] { return retry(); }),
      events_(loop, [this](std::span<void* const> ready) { woken(ready); }),
      inotify_(loop, [this](int wd, std::uint32_t, std::string_view) { on_event(wd); }) {}

void OomWatch::watch(const SandboxId& id, const std::vector<GroupRef>& groups) {
  auto before = std::exchange(watched_[id], {});
  refused_.erase(id);
  for (const auto& group : groups) {
    auto known = before.extract(group);
    if (!known.empty() && count_kills(known.mapped().file)) {
      watched_[id].insert(std::move(known));
      continue;
    }
    if (!known.empty()) drop(id, known.mapped());
    listen(id, group);
  }
  for (const auto& [group, watched] : before) drop(id, watched);
  if (watched_[id].empty()) watched_.erase(id);
}

void OomWatch::unwatch(const SandboxId& id) { watch(id, {}); }

void OomWatch::set_may_write(bool may_write) {
  may_write_ = may_write;
  if (may_write) return;
  refused_.clear();
  for (auto& [id, groups] : watched_)
    std::erase_if(groups, [](const auto& one) { return one.second.event.valid(); });
  std::erase_if(watched_, [](const auto& one) { return one.second.empty(); });
}

std::size_t OomWatch::size() const {
  std::size_t count = 0;
  for (const auto& [id, groups] : watched_) count += groups.size();
  return count;
}

void OomWatch::listen(const SandboxId& id, const GroupRef& group) {
  const auto* hierarchy = host_.find(group.hierarchy);
  if (hierarchy == nullptr || (!hierarchy->unified && !may_write_)) return;
  auto directory = hierarchy->mount_point;
  if (!group.path.is_root()) directory += group.path.str();
  auto& [key, groups] = *watched_.try_emplace(id).first;
  auto& one = *groups.try_emplace(group).first;
  one.second.id = &key;
  const auto heard =
      hierarchy->unified ? listen_unified(directory, one.second) : listen_v1(directory, one);
  if (heard) return;
  groups.erase(group);
  if (absent(heard.error())) return;
  refusal_ = heard.error();
  refused_[id].insert(group);
  shortage_.begin(heard.error());
}

Status OomWatch::listen_unified(const std::string& directory, Watched& watched) {
  const auto path = directory + "/memory.events";
  auto file = open_kept(path);
  if (!file) return forward(file.error());
  const auto wd = inotify_.add(path, IN_MODIFY | IN_DONT_FOLLOW);
  if (!wd) return forward(wd.error());
  watched.file = std::move(*file);
  watched.wd = *wd;
  watched.kills = count_kills(watched.file).value_or(0);
  ids_[watched.wd].insert(*watched.id);
  return {};
}

/// See the kernel's documentation of cgroup v1, "cgroups notification API".
Status OomWatch::listen_v1(const std::string& directory, Groups::value_type& one) {
  auto& watched = one.second;
  auto file = open_kept(directory + "/memory.oom_control");
  if (!file) return forward(file.error());
  const auto control = open_file(directory + "/cgroup.event_control", O_WRONLY);
  if (!control) return forward(control.error());
  watched.file = std::move(*file);
  Fd counter(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (const int code = errno; !counter) return fail(code, "eventfd: {}", errno_text(code));
  auto room = kept(std::move(counter));
  if (!room) return forward(room.error(), "eventfd");
  watched.event = std::move(*room);
  const auto request = fmt::format("{} {}", watched.event.get(), watched.file.get());
  const auto written = ::write(control->get(), request.data(), request.size());
  if (const int code = errno; written < 0)
    return fail(code, "{}/cgroup.event_control: {}", directory, errno_text(code));
  if (const auto added = events_.add(watched.event.get(), &one); !added)
    return forward(added.error(), "eventfd");
  return {};
}

/// What follows from one may drop another.
void OomWatch::woken(std::span<void* const> ready) {
  FlatSet<SandboxId> ids;
  for (const void* who : ready) {
    const auto& [group, watched] = *static_cast<const Groups::value_type*>(who);
    std::uint64_t count = 0;
    (void)::read(watched.event.get(), &count, sizeof count);  // ignored: how many
    ids.insert(*watched.id);
  }
  for (const auto& id : ids) sink_({HintKind::group, id.str(), 0});
}

/// A pod's group may be watched for another sandbox, too; both share the kernel's watch.
void OomWatch::drop(const SandboxId& id, const Watched& watched) {
  const auto found = ids_.find(watched.wd);
  if (found == ids_.end()) return;
  found->second.erase(id);
  if (!found->second.empty()) return;
  ids_.erase(found);
  inotify_.remove(watched.wd);
}

Status OomWatch::retry() {
  const auto again = std::exchange(refused_, {});
  refusal_.reset();
  for (const auto& [id, groups] : again) {
    if (refusal_) {  // what there was no room for, there is none for others
      refused_[id] = groups;
      continue;
    }
    for (const auto& group : groups) listen(id, group);
    sink_({HintKind::group, id.str(), 0});  // whatever was missed meanwhile
  }
  if (refusal_) return forward(*refusal_);
  return {};
}

/// wd -1: events were lost, so every count is compared.
void OomWatch::on_event(int wd) {
  if (wd < 0)
    for (const auto& [id, groups] : watched_) compare(id, wd);
  const auto found = ids_.find(wd);
  if (found == ids_.end()) return;
  for (const auto& id : FlatSet<SandboxId>(found->second)) compare(id, wd);
}

void OomWatch::compare(const SandboxId& id, int wd) {
  const auto groups = watched_.find(id);
  if (groups == watched_.end()) return;
  bool grown = false;
  for (auto& [group, watched] : groups->second) {
    if (watched.wd < 0 || (wd >= 0 && watched.wd != wd)) continue;
    const auto kills = count_kills(watched.file);
    grown = (kills && std::exchange(watched.kills, *kills) != *kills) || grown;
  }
  if (grown) sink_({HintKind::group, id.str(), 0});
}

}  // namespace kcg
