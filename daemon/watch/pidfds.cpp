// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/pidfds.hpp"

#include <sys/epoll.h>

#include <array>
#include <cerrno>
#include <set>
#include <utility>
#include <vector>

#include "daemon/watch/kept_fd.hpp"
#include "model/errnos.hpp"
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
  auto& one = *processes.try_emplace(process, Watched{&key, Fd()}).first;
  if (one.second.fd) return;
  const auto heard = listen(one);
  if (heard) return;
  if (heard.error().code == ESRCH) return ended(id, process);
  shortage_.begin(heard.error());
}

Status PidWatch::open() {
  if (ends_) return {};
  Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (const int code = errno; !epoll) return fail(code, "epoll_create: {}", errno_text(code));
  auto room = kept(std::move(epoll));
  if (!room) return forward(room.error(), "epoll_create");
  auto source = loop_.on_fd(room->get(), EPOLLIN, [this](std::uint32_t) { woken(); });
  if (!source) return forward(source.error());
  ends_ = std::move(*room);
  source_ = std::move(*source);
  return {};
}

/// ESRCH: there is no such process. Any other error says nothing about it. `one` is in watched_.
Status PidWatch::listen(Processes::value_type& one) {
  auto& [process, watched] = one;
  auto fd = open_pidfd(proc_, process);
  if (!fd) return forward(fd.error());
  auto room = kept(std::move(*fd));
  if (!room) return forward(room.error(), fmt::format("pidfd_open {}", process.pid));
  if (const auto opened = open(); !opened) return opened;
  epoll_event event{EPOLLIN, {&one}};
  const int failed = ::epoll_ctl(ends_.get(), EPOLL_CTL_ADD, room->get(), &event);
  if (const int code = errno; failed != 0)
    return fail(code, "epoll_ctl pidfd {}: {}", process.pid, errno_text(code));
  watched.fd = std::move(*room);
  return {};
}

/// A portion of those that have ended. What follows from one may drop another.
void PidWatch::woken() {
  std::array<epoll_event, 16> events;
  const int ready = ::epoll_wait(ends_.get(), events.data(), events.size(), 0);
  std::vector<std::pair<std::string, TaskKey>> all;
  for (int i = 0; i < ready; ++i) {
    const auto& [process, watched] =
        *static_cast<const Processes::value_type*>(events.at(static_cast<std::size_t>(i)).data.ptr);
    all.emplace_back(*watched.id, process);
  }
  for (const auto& [id, process] : all) ended(id, process);
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
      if (!watched.fd) waiting.emplace(id, process);
  for (const auto& [id, process] : waiting) {
    const auto sandbox = watched_.find(id);
    if (sandbox == watched_.end()) continue;
    const auto one = sandbox->second.find(process);
    if (one == sandbox->second.end()) continue;
    const auto heard = listen(*one);
    if (heard) continue;
    if (heard.error().code != ESRCH) return heard;
    ended(id, process);
  }
  return {};
}

}  // namespace kcg
