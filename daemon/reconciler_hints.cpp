// SPDX-License-Identifier: Apache-2.0
//
// Reconciler: from a hint to dirty sandboxes, and when they are looked at.
#include <chrono>

#include "daemon/reconciler.hpp"
#include "observe/bundle_dirs.hpp"
#include "observe/scan.hpp"
#include "plan/prove.hpp"

namespace kcg {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// A long queue is worked off in slices, so that the loop stays awake for new events.
constexpr Instant kSlice = milliseconds(10);
/// A half-written file is read again this often.
constexpr unsigned kBundleTries = 3;
constexpr Instant kBundleRetry = milliseconds(50);
/// Sources that lose events again and again cause at most one full look per this time.
constexpr Instant kRescanPause = seconds(1);

}  // namespace

void Reconciler::hint(const Hint& hint) {
  switch (hint.kind) {
    case HintKind::bundle:
      return bundle_hint(hint.text);
    case HintKind::exec:
      return exec_hint(hint.pid);
    case HintKind::thread:
      return process_hint(hint.pid);
    case HintKind::kata_state:
      if (const auto id = SandboxId::parse(hint.text)) absorb(inputs_.state_changed(*id));
      return;
    case HintKind::group:
    case HintKind::process_end:
      if (const auto id = SandboxId::parse(hint.text)) mark_dirty(*id);
      return;
    case HintKind::job:
      return job_hint(hint.text, hint.problem);
    case HintKind::rescan:
      return rescan();
  }
}

/// Only units that a sandbox waits for are known here.
void Reconciler::job_hint(const std::string& unit, const std::string& problem) {
  auto job = jobs_.extract(unit);
  const auto entry = job.empty() ? entries_.end() : entries_.find(job.mapped());
  if (entry == entries_.end()) return;
  end_job(entry->second.record, unit, problem);
  mark_dirty(entry->first);
}

void Reconciler::bundle_hint(const std::string& directory) {
  const auto origin = bundle_origin(config_.discovery, directory);
  if (!origin) return;
  const auto change = inputs_.bundle_changed(*origin);
  if (inputs_.full())
    world_.log.limited(
        LogLevel::warning, origin->id, "full",
        "too many bundles: new ones are not looked at; raise [limits] max_sandboxes");
  if (change.unreadable)
    retry_bundle(directory);
  else
    bundle_tries_.erase(directory);
  absorb(change);
}

void Reconciler::retry_bundle(const std::string& directory) {
  auto& tries = bundle_tries_[directory];
  if (tries >= kBundleTries) return;
  const auto when = world_.clock.now() + kBundleRetry * (1 << tries);
  ++tries;
  (void)after(when, [this, directory] { bundle_hint(directory); });  // ignored: never cancelled
}

void Reconciler::absorb(const InputChange& change) {
  for (const auto& id : change.sandboxes) mark_dirty(id);
}

void Reconciler::exec_hint(Pid pid) {
  world_.proc.forget(pid);
  const auto stat = world_.proc.stat(pid);
  if (!stat) return;
  if (shim_comm(stat->comm)) return shim_hint(pid);
  process_hint(owner_.contains(pid) ? pid : stat->ppid);
}

/// A shim executed: its bundle may be so new that its own event is still on the way.
void Reconciler::shim_hint(Pid pid) {
  const auto facts = world_.proc.facts(pid);
  const auto text = facts ? shim_sandbox_id(*facts) : std::nullopt;
  const auto id = text ? SandboxId::parse(*text) : fail(0, "none");
  if (!id) return;
  if (!inputs_.known(*id)) bundle_hint(facts->cwd);
  if (!inputs_.known(*id)) return;
  entries_[*id].record.shim_candidates.insert(pid);
  mark_dirty(*id);
}

void Reconciler::process_hint(Pid pid) {
  if (const auto it = owner_.find(pid); it != owner_.end()) mark_dirty(it->second);
}

/// A source lost events: everything is looked at, but not more often than once per pause.
void Reconciler::rescan() {
  if (rescan_waits_) return;
  rescan_waits_ = true;
  const auto when = std::max(world_.clock.now(), rescan_allowed_);
  (void)after(when, [this] {  // ignored: never cancelled
    rescan_waits_ = false;
    rescan_allowed_ = world_.clock.now() + kRescanPause;
    resync();
  });
}

void Reconciler::resync_later() {
  const auto when = world_.clock.now() + config_.reconcile_interval;
  (void)after(when, [this] {  // ignored: never cancelled
    resync();
    resync_later();
  });
}

/// What the sources may have missed. Unchanged files cost a stat each.
void Reconciler::resync() {
  std::map<std::string, BundleOrigin> origins;
  for (auto& origin : inputs_.origins()) origins.emplace(origin.directory, origin);
  for (auto& origin : list_bundles(config_.discovery)) origins.emplace(origin.directory, origin);
  for (const auto& [directory, origin] : origins) absorb(inputs_.bundle_changed(origin));
  for (const auto& [id, pids] : find_shims(world_.proc)) {
    if (!inputs_.known(id)) continue;
    entries_[id].record.shim_candidates.insert(pids.begin(), pids.end());
  }
  for (const auto& id : inputs_.ids()) {
    absorb(inputs_.state_changed(id));
    background_.insert(id);
  }
  for (const auto& [id, entry] : entries_) background_.insert(id);
  arm_idle();
}

void Reconciler::mark_dirty(const SandboxId& id) {
  urgent_.insert(id);
  arm_idle();
}

void Reconciler::arm_idle() {
  if (idle_) return;
  auto source = loop_.when_idle([this] { work(); });
  if (source)
    idle_ = std::move(*source);
  else
    world_.log.error(fmt::format("event loop: {}", source.error().text));
}

std::optional<SandboxId> Reconciler::next_dirty() {
  for (auto* queue : {&urgent_, &background_}) {
    if (queue->empty()) continue;
    auto id = *queue->begin();
    urgent_.erase(id);
    background_.erase(id);
    return id;
  }
  return std::nullopt;
}

void Reconciler::work() {
  idle_ = Source();
  const auto until = world_.clock.now() + kSlice;
  while (const auto id = next_dirty()) {
    pass(*id);
    if (world_.clock.now() >= until) break;
  }
  if (!urgent_.empty() || !background_.empty()) arm_idle();
}

Reconciler::Timers::iterator Reconciler::after(Instant when, std::function<void()> act) {
  const auto it = timers_.emplace(when, std::move(act));
  if (it == timers_.begin()) arm_timer();
  return it;
}

/// At most one timer per sandbox; a new one replaces the old one.
void Reconciler::retry(const SandboxId& id, Entry& entry, std::optional<Instant> when) {
  if (entry.retry) timers_.erase(*entry.retry);
  entry.retry.reset();
  if (!when) return;
  entry.retry = after(*when, [this, id] {
    entries_[id].retry.reset();
    mark_dirty(id);
  });
}

void Reconciler::arm_timer() {
  if (timers_.empty()) {
    timer_ = Source();
    return;
  }
  auto source = loop_.at(timers_.begin()->first, [this] {
    const auto now = world_.clock.now();
    while (!timers_.empty() && timers_.begin()->first <= now) {
      const auto act = std::move(timers_.extract(timers_.begin()).mapped());
      act();
    }
    arm_timer();
  });
  if (source)
    timer_ = std::move(*source);
  else
    world_.log.error(fmt::format("timer: {}", source.error().text));
}

}  // namespace kcg
