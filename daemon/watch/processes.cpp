// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/processes.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace kcg {

namespace {

constexpr std::string_view kShim = "containerd-shim";  // the kernel cuts names at 15 characters
constexpr Instant kPatience = std::chrono::seconds(1);
constexpr Instant kScanPause = std::chrono::seconds(1);
/// Wake-ups that follow each other faster than this are a storm of strangers: then it is better to
/// let events gather for as long and to handle them together. Halves the cost of 2,000 execs/s.
constexpr Instant kGather = std::chrono::milliseconds(2);

}  // namespace

std::unique_ptr<ProcessWatch> ProcessWatch::create(Loop& loop, ProcView& proc, const Clock& clock,
                                                   HintSink sink) {
  std::unique_ptr<ProcessWatch> self(new ProcessWatch(loop, proc, clock, std::move(sink)));
  if (const auto listening = self->listen(); !listening) self->fall_back(listening.error().text);
  return self;
}

Status ProcessWatch::listen() {
  auto connector = ProcConnector::open();
  if (!connector) return forward(connector.error());
  connector_ = std::move(*connector);
  if (auto heard = hear(); !heard) return heard;
  arm(clock_.now() + kPatience, &ProcessWatch::give_up);
  return {};
}

Status ProcessWatch::hear() {
  auto events = loop_.on_fd(connector_->fd(), EPOLLIN, [this](std::uint32_t) { on_events(); });
  if (!events) return forward(events.error());
  events_ = std::move(*events);
  return {};
}

void ProcessWatch::gather(Instant now) {
  auto pause = loop_.at(now + kGather, [this] {
    if (auto heard = hear(); !heard) fall_back(heard.error().text);
  });
  if (!pause) return;  // then every event wakes us, as before
  events_ = Source();
  pause_ = std::move(*pause);
}

void ProcessWatch::give_up() {
  if (!listening_)
    fall_back(
        "proc connector: no answer from the kernel: this is not the initial pid or user "
        "namespace");
}

void ProcessWatch::on_events() {
  const auto now = clock_.now();
  const bool storm = now - std::exchange(woken_, now) < kGather + kGather;
  auto batch = connector_->read();
  if (!batch) return fall_back(batch.error().text);
  if (batch->lost) sink_({HintKind::rescan, "", 0});
  auto& events = batch->events;
  // A program that starts many threads at once is one hint, not many.
  events.erase(std::unique(events.begin(), events.end()), events.end());
  for (const auto& event : events) on_event(event);
  if (storm && connector_) gather(now);
}

void ProcessWatch::on_event(const ProcEvent& event) {
  switch (event.kind) {
    case ProcEvent::Kind::listening:
      listening_ = event.code == 0;
      if (!listening_) fall_back("proc connector: " + errno_text(event.code));
      return;
    case ProcEvent::Kind::thread:
      if (watched_.contains(event.pid)) sink_({HintKind::thread, "", event.pid});
      return;
    case ProcEvent::Kind::exec:
      if (const auto stat = proc_.stat(event.pid); stat && interesting(*stat))
        sink_({HintKind::exec, "", event.pid});
      return;
  }
}

bool ProcessWatch::interesting(const TaskStat& stat) const {
  return stat.comm.starts_with(kShim) || watched_.contains(stat.ppid) ||
         watched_.contains(stat.key.pid);
}

void ProcessWatch::fall_back(std::string problem) {
  problem_ = std::move(problem);
  listening_ = false;
  events_ = Source();
  pause_ = Source();
  connector_.reset();
  scan();
}

/// Every process that is interesting and was not, or was another program, a second ago.
void ProcessWatch::scan() {
  std::map<TaskKey, std::string> now;
  const auto pids = proc_.pids();
  for (const Pid pid : pids.value_or(std::vector<Pid>{})) {
    auto stat = proc_.stat(pid);
    if (stat && interesting(*stat)) now.emplace(stat->key, std::move(stat->comm));
  }
  const auto before = std::exchange(seen_, now);
  arm(clock_.now() + kScanPause, &ProcessWatch::scan);
  for (const auto& [key, comm] : now) {
    const auto known = before.find(key);
    if (known == before.end() || known->second != comm) sink_({HintKind::exec, "", key.pid});
  }
}

void ProcessWatch::arm(Instant when, void (ProcessWatch::*act)()) {
  auto timer = loop_.at(when, [this, act] { (this->*act)(); });
  if (timer)
    timer_ = std::move(*timer);
  else
    problem_ = timer.error().text;
}

}  // namespace kcg
