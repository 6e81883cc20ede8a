// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/pidfds.hpp"

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
    : proc_(proc),
      sink_(std::move(sink)),
      shortage_(loop, std::move(tell), kMissedExits, [this] { return retry(); }),
      ends_(loop, [this](std::span<void* const> ready) { woken(ready); }) {}

void PidWatch::watch(const SandboxId& id, const TaskKey& process) {
  auto& [key, processes] = *watched_.try_emplace(id).first;
  auto& one = *processes.try_emplace(process, Watched{&key, Fd()}).first;
  if (one.second.fd) return;
  const auto heard = listen(one);
  if (heard) return;
  if (heard.error().code == ESRCH) return ended(id, process);
  shortage_.begin(heard.error());
}

/// ESRCH: there is no such process. Any other error says nothing about it. `one` is in watched_.
Status PidWatch::listen(Processes::value_type& one) {
  auto& [process, watched] = one;
  auto fd = open_pidfd(proc_, process);
  if (!fd) return forward(fd.error());
  auto room = kept(std::move(*fd));
  if (!room) return forward(room.error(), fmt::format("pidfd_open {}", process.pid));
  if (const auto added = ends_.add(room->get(), &one); !added)
    return forward(added.error(), fmt::format("pidfd {}", process.pid));
  watched.fd = std::move(*room);
  return {};
}

/// What follows from one may drop another.
void PidWatch::woken(std::span<void* const> ready) {
  std::vector<std::pair<SandboxId, TaskKey>> all;
  for (const void* one : ready) {
    const auto& [process, watched] = *static_cast<const Processes::value_type*>(one);
    all.emplace_back(*watched.id, process);
  }
  for (const auto& [id, process] : all) ended(id, process);
}

void PidWatch::unwatch(const SandboxId& id) { watched_.erase(id); }

std::size_t PidWatch::size() const {
  std::size_t count = 0;
  for (const auto& [id, processes] : watched_) count += processes.size();
  return count;
}

/// Both are gone with what was watched, where it watched.
void PidWatch::ended(SandboxId id, TaskKey process) {
  const auto sandbox = watched_.find(id);
  if (sandbox == watched_.end() || sandbox->second.extract(process).empty()) return;
  if (sandbox->second.empty()) watched_.erase(sandbox);
  sink_({HintKind::process_end, id.str(), process.pid});
}

Status PidWatch::retry() {
  std::set<std::pair<SandboxId, TaskKey>> waiting;
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
