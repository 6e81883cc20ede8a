// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/pidfds.hpp"

#include <sys/epoll.h>

#include <cerrno>
#include <set>
#include <utility>

#include "daemon/watch/kept_fd.hpp"
#include "proc/pidfd.hpp"

namespace kcg {

namespace {

constexpr const char* kMissedExits =
    "ends of shims and VMMs are seen when everything is looked at again (reconcile.interval)";

}  // namespace

PidWatch::PidWatch(Loop& loop, ProcView& proc, HintSink sink, TellHealth tell)
    : loop_(loop),
      proc_(proc),
      sink_(std::move(sink)),
      shortage_(loop, std::move(tell), kMissedExits, [this] { return retry(); }) {}

void PidWatch::watch(const std::string& id, const TaskKey& process) {
  auto& [key, processes] = *watched_.try_emplace(id).first;
  auto& watched = processes[process];
  if (watched.source) return;
  const auto heard = listen(key, process, watched);
  if (heard) return;
  if (heard.error().code == ESRCH) return ended(id, process);
  shortage_.begin(heard.error());
}

/// ESRCH: there is no such process. Any other error says nothing about it. `id` is a key of
/// watched_.
Status PidWatch::listen(const std::string& id, const TaskKey& process, Watched& watched) {
  auto fd = open_pidfd(proc_, process);
  if (!fd) return forward(fd.error());
  auto room = kept(std::move(*fd));
  if (!room) return forward(room.error(), fmt::format("pidfd_open {}", process.pid));
  auto source = loop_.on_fd(room->get(), EPOLLIN,
                            [this, &id, process](std::uint32_t) { ended(id, process); });
  if (!source) return forward(source.error());
  watched = {std::move(*room), std::move(*source)};
  return {};
}

void PidWatch::unwatch(const std::string& id) { watched_.erase(id); }

std::size_t PidWatch::size() const {
  std::size_t count = 0;
  for (const auto& [id, processes] : watched_) count += processes.size();
  return count;
}

/// Both are gone with what was watched, where it watched.
void PidWatch::ended(std::string id, TaskKey process) {
  const auto sandbox = watched_.find(id);
  if (sandbox == watched_.end() || sandbox->second.extract(process).empty()) return;
  if (sandbox->second.empty()) watched_.erase(sandbox);
  sink_({HintKind::process_end, id, process.pid});
}

Status PidWatch::retry() {
  std::set<std::pair<std::string, TaskKey>> waiting;
  for (const auto& [id, processes] : watched_)
    for (const auto& [process, watched] : processes)
      if (!watched.source) waiting.emplace(id, process);
  for (const auto& [id, process] : waiting) {
    const auto sandbox = watched_.find(id);
    if (sandbox == watched_.end() || !sandbox->second.contains(process)) continue;
    const auto heard = listen(sandbox->first, process, sandbox->second[process]);
    if (heard) continue;
    if (heard.error().code != ESRCH) return heard;
    ended(id, process);
  }
  return {};
}

}  // namespace kcg
