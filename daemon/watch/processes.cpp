// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/processes.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include "model/errnos.hpp"

namespace kcg {

namespace {

constexpr std::string_view kShim = "containerd-shim";  // the kernel cuts names at 15 characters
constexpr Instant kPatience = std::chrono::seconds(1);
constexpr Instant kScanPause = std::chrono::seconds(1);
constexpr Instant kSlicePause = std::chrono::milliseconds(1);
/// How long a flood's authors are not heard before it is tried again.
constexpr Instant kTight = std::chrono::milliseconds(200);
/// Portions of 64 events that one turn of the loop takes: more than a flood brings in PacedFd's
/// pause, so that it does not overflow the socket.
constexpr int kPortions = 8;

constexpr const char* kMissedPrograms =
    "; /proc is looked through once per second for new processes, and new threads are found when "
    "everything is looked at again (reconcile.interval)";

/// A program that starts many threads at once is one hint, not many, and as young as the last.
void add(std::map<Pid, Hint>& hints, const ProcEvent& event) {
  auto& hint = hints.try_emplace(event.pid, Hint{HintKind::thread, "", event.pid, "", event.at})
                   .first->second;
  hint.at = std::max(hint.at, event.at);
  hint.tids.push_back(event.tid);
}

}  // namespace

ProcessWatch::ProcessWatch(Loop& loop, ProcView& proc, HintSink sink, TellHealth tell)
    : loop_(loop),
      proc_(proc),
      sink_(std::move(sink)),
      tell_(std::move(tell)),
      paced_(
          loop, [this] { return on_events(); }, [this](const Error& why) { fall_back(why.text); }) {
  listen();
}

void ProcessWatch::listen() {
  patience_ = Source();
  auto connector = ProcConnector::open();
  if (!connector) return fall_back(connector.error().text);
  connector_ = std::move(*connector);
  if (auto heard = paced_.listen(connector_->fd(), EPOLLIN); !heard)
    return fall_back(heard.error().text);
  arm(patience_, kPatience, &ProcessWatch::on_silence);
}

void ProcessWatch::on_silence() {
  fall_back(
      "proc connector: no answer from the kernel: this is not the initial pid or user namespace");
}

void ProcessWatch::on_answer(int code) {
  if (code != 0) return fall_back("proc connector: " + errno_text(code));
  listening_ = true;
  patience_ = Source();
  if (!std::exchange(fallen_, false)) return;
  scan_ = Source();
  seen_.clear();
  found_.clear();
  unscanned_ = {};
  tell_("");
  sink_({HintKind::rescan, "", 0});  // threads of the time without
}

void ProcessWatch::watch_process(Pid pid) {
  if (!watched_.insert(pid).second || !tight_) return;
  // What it did since it was looked at was dropped with the flood.
  hear_few();
  sink_({HintKind::thread, "", pid});
}

/// At most kPortions.
Heard ProcessWatch::read_events(std::vector<ProcEvent>& events) {
  auto heard = Heard::nothing;
  for (int portion = 0; portion < kPortions; ++portion) {
    auto batch = connector_->read();
    if (!batch) {
      events.clear();  // /proc is looked through instead
      fall_back(batch.error().text);
      return Heard::news;
    }
    if (batch->lost) {
      sink_({HintKind::rescan, "", 0});
      heard = Heard::news;
    }
    events.insert(events.end(), batch->events.begin(), batch->events.end());
    if (batch->events.size() < ProcConnector::kBatch) break;
  }
  return events.empty() || heard == Heard::news ? heard : Heard::noise;
}

Heard ProcessWatch::on_events() {
  std::vector<ProcEvent> events;
  auto heard = read_events(events);
  handled_ += events.size();
  const auto now = clock_.now();
  for (const auto& event : events)
    if (event.kind == ProcEvent::Kind::thread) flood_.add(event.pid, now);
  if (flood_.flood() && !tight_) tighten();
  return pass_on(events) ? Heard::news : heard;
}

bool ProcessWatch::pass_on(const std::vector<ProcEvent>& events) {
  bool any = false;
  std::map<Pid, Hint> threads;
  std::set<Pid> executed;
  for (const auto& event : events) {
    if (event.kind == ProcEvent::Kind::exec) {
      executed.insert(event.pid);
    } else if (event.kind == ProcEvent::Kind::listening) {
      on_answer(event.code);
      any = true;
    } else if (watched_.contains(event.pid)) {
      add(threads, event);
    }
  }
  for (const auto& [pid, hint] : threads) sink_(hint);
  const bool concerned = on_execs({executed.begin(), executed.end()});
  return any || concerned || !threads.empty();
}

/// Of whom nothing can be read it is as if the event had been lost.
bool ProcessWatch::on_execs(const std::vector<Pid>& pids) {
  bool any = false;
  const auto names = proc_.names(pids);
  for (std::size_t i = 0; i < pids.size(); ++i) {
    const auto& name = names[i];
    const bool unknown = !name && !errnos::no_task(name.error().code);
    if (unknown) sink_({HintKind::rescan, "", 0});
    const bool concerns = name && interesting(pids[i], *name);
    if (concerns) sink_({HintKind::exec, "", pids[i]});
    any = any || unknown || concerns;
  }
  return any;
}

bool ProcessWatch::interesting(Pid pid, const TaskName& name) const {
  return name.comm.starts_with(kShim) || watched_.contains(name.ppid) || watched_.contains(pid);
}

/// Only watched processes are heard for a while, and of these only the quiet ones.
void ProcessWatch::tighten() {
  muted_ = flood_.loud();
  std::erase_if(muted_, [this](Pid pid) { return !watched_.contains(pid); });
  flood_ = FloodCount();
  hear_few();
  arm(tight_, kTight, &ProcessWatch::loosen);
}

void ProcessWatch::hear_few() {
  std::vector<Pid> heard;
  for (const Pid pid : watched_)
    if (!muted_.contains(pid)) heard.push_back(pid);
  (void)connector_->hear_threads_of(heard);  // ignored: then all are heard, as before
}

void ProcessWatch::loosen() {
  tight_ = Source();
  if (!connector_) return;
  if (auto all = connector_->hear_all_threads(); !all) return fall_back(all.error().text);
  for (const Pid pid : std::exchange(muted_, {})) sink_({HintKind::thread, "", pid});
}

void ProcessWatch::fall_back(const std::string& problem) {
  tell_(problem + kMissedPrograms);
  listening_ = false;
  paced_.stop();
  connector_.reset();
  tight_ = Source();
  muted_.clear();
  arm(patience_, backoff_.failed(clock_.now()), &ProcessWatch::listen);
  if (!std::exchange(fallen_, true)) scan();
}

/// Every process that is interesting and was not, or was another program, a second ago.
void ProcessWatch::scan() {
  auto pids = proc_.pids();
  if (!pids) return arm(scan_, kScanPause, &ProcessWatch::scan);
  unscanned_ = std::move(*pids);
  std::reverse(unscanned_.begin(), unscanned_.end());
  scan_some();
}

void ProcessWatch::scan_some() {
  for (std::size_t i = 0; i < kSlice && !unscanned_.empty(); ++i) {
    auto stat = proc_.stat(unscanned_.back());
    unscanned_.pop_back();
    if (!stat || !interesting(stat->key.pid, {stat->comm, stat->ppid})) continue;
    const auto known = seen_.find(stat->key);
    const bool news = known == seen_.end() || known->second != stat->comm;
    const Pid pid = stat->key.pid;
    found_.insert_or_assign(stat->key, std::move(stat->comm));
    if (news) sink_({HintKind::exec, "", pid});
  }
  if (!unscanned_.empty()) return arm(scan_, kSlicePause, &ProcessWatch::scan_some);
  seen_ = std::exchange(found_, {});
  arm(scan_, kScanPause, &ProcessWatch::scan);
}

void ProcessWatch::arm(Source& timer, Instant pause, void (ProcessWatch::*act)()) {
  auto armed = loop_.at(clock_.now() + pause, [this, act] { (this->*act)(); });
  if (armed) timer = std::move(*armed);
}

}  // namespace kcg
