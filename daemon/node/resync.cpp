// SPDX-License-Identifier: Apache-2.0
#include "daemon/node/resync.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "daemon/node/cpu_time.hpp"
#include "model/ticks.hpp"
#include "observe/sandbox.hpp"
#include "plan/desired.hpp"

namespace kcg {

namespace {

/// Sources that lose events again and again cause at most one full look per this time.
constexpr Instant kRescanPause = std::chrono::seconds(1);
constexpr Instant kResyncSlice = std::chrono::milliseconds(5);
constexpr std::size_t kPortion = 64;
/// Of a CPU, of an interval in which nothing was lost.
constexpr int kShare = 125;
constexpr Instant kLeast = std::chrono::milliseconds(100);

}  // namespace

void Resync::start() {
  auto& [tree, proc, clock, systemd, store, log] = node_.world;
  for (const auto& dropped : node_.registrations.load()) log.warning(dropped);
  for (const auto& [id, registration] : node_.registrations.all())
    node_.inputs.set_registration(id, registration);
  const auto ticks = static_cast<std::uint64_t>(clock.now().count()) / kUsecPerTick;
  node_.managed_since = store.first_start(ticks);
  node_.chronicle.restore();
  node_.overheads.restore();
  for (const auto& note : store.notes()) log.warning(note);
  node_.inputs.set_kata_config(read_kata_config(node_.config.discovery));

  for (const auto& origin : list_bundles(node_.config.discovery))
    node_.absorb(node_.inputs.bundle_changed(origin));
  for (const auto& id : node_.inputs.ids()) {
    node_.absorb(node_.inputs.state_changed(id));
    node_.turns.guarded("announcing a sandbox", [&] { announce(id); });
  }
  resync();
  resync_later();
}

/// What its files say about a sandbox that was not looked at yet: state `discovered`, no process.
void Resync::announce(const SandboxId& id) {
  Round said;
  said.observed = hearsay(node_.world.tree.host(), node_.inputs.inputs(id));
  const auto& inputs = said.observed.inputs;
  if (!said.observed.proven_kata || (!inputs.bundle && !inputs.registration)) return;
  said.want = desired(node_.config, said.observed);
  node_.announcer.seen(id, node_.sandboxes.get(id), said);
}

void Resync::rescan() {
  if (rescan_waits_) return;
  rescan_waits_ = true;
  const auto& clock = node_.world.clock;
  node_.turns.after(std::max(clock.now(), rescan_allowed_), [this, &clock] {
    rescan_waits_ = false;
    rescan_allowed_ = clock.now() + kRescanPause;
    resync();
  });
}

void Resync::begin_interval() {
  ++interval_;
  resync_later();
}

void Resync::resync_later() {
  const auto at = node_.world.clock.now() + node_.config.reconcile_interval;
  node_.turns.after(at, [this, interval = interval_] {
    if (interval != interval_) return;  // another one took its place
    resync_later();                     // first: this chain must not break
    look_at_all(true);
  });
}

/// One that rests goes on where it stopped, unless something was lost meanwhile.
void Resync::look_at_all(bool at_leisure) {
  if (left_ && !rests_) {
    if (at_leisure) return;
    again_ = true;
    search_left_.reset();
    return;
  }
  if (!at_leisure || !left_) {
    left_.emplace();
    if (!node_.looked) left_->marks.emplace(node_.world.tree, node_.world.store.creations());
  }
  search(at_leisure);
}

void Resync::search(bool at_leisure) {
  rests_ = false;
  search_left_ = at_leisure ? std::optional(share() / 2) : std::nullopt;
  node_.scheduler.add_urgent_job([this] {
    try {
      return work();
    } catch (...) {
      left_.reset();  // the next one begins anew
      throw;
    }
  });
  node_.turns.arm();
}

/// One slice; false: there is none after it, or none in this interval.
bool Resync::work() {
  const auto before = thread_cpu_time();
  const bool more = go_on();
  if (search_left_) *search_left_ -= thread_cpu_time() - before;
  rests_ = more && search_left_ && *search_left_ <= Instant(0);
  if (!more) end();
  if (rests_) allow_looks();
  return more && !rests_;
}

void Resync::begin(LeftToLookAt& left) {
  left.begun = true;
  node_.inputs.set_kata_config(read_kata_config(node_.config.discovery));
  std::map<std::string, BundleOrigin> origins;
  for (auto& origin : node_.inputs.origins()) origins.emplace(origin.directory, origin);
  for (auto& origin : list_bundles(node_.config.discovery))
    origins.emplace(origin.directory, origin);
  for (auto& [directory, origin] : origins) left.bundles.push_back(std::move(origin));
  auto pids = node_.world.proc.pids();
  if (!pids) return;  // what is kept of processes is not known to be of no use
  node_.world.proc.forget_all_but(*pids);
  left.pids = std::move(*pids);
}

/// Some milliseconds of the search; false: nothing is left to look at.
bool Resync::go_on() {
  auto& left = *left_;
  auto& inputs = node_.inputs;
  if (!left.begun) begin(left);
  const auto until = node_.world.clock.now() + kResyncSlice;
  do {
    if (!left.bundles.empty()) {
      node_.absorb(inputs.bundle_changed(left.bundles.back()));
      left.bundles.pop_back();
      if (!left.bundles.empty()) continue;
      const auto ids = inputs.ids();
      left.states.assign(ids.begin(), ids.end());
    } else if (!left.states.empty()) {
      node_.absorb(inputs.state_changed(left.states.back()));
      left.states.pop_back();
    } else if (!left.pids.empty()) {
      look_for_shims(left.pids);
    } else if (!left.marks || !left.marks->look(kPortion)) {
      return false;
    }
  } while (node_.world.clock.now() < until);
  return true;
}

/// Takes a portion off the end.
void Resync::look_for_shims(std::vector<Pid>& pids) {
  const auto count = std::min(pids.size(), kPortion);
  const std::vector<Pid> portion(pids.end() - static_cast<std::ptrdiff_t>(count), pids.end());
  pids.resize(pids.size() - count);
  const auto owner = [this](const std::string& dir) { return node_.inputs.sandbox_in(dir); };
  for (const auto& [id, found] : find_shims(node_.world.proc, portion, owner))
    for (const Pid pid : found) (void)node_.add_candidate(id, pid);  // ignored: nobody's shim
}

/// The sandbox of the youngest shim: its VMM may be about to touch its memory.
std::vector<SandboxId> Resync::youngest_first() const {
  std::map<SandboxId, Pid> shims;
  for (const auto& id : node_.inputs.ids()) shims.emplace(id, 0);
  for (const auto& [id, entry] : node_.sandboxes.all()) {
    const auto& candidates = entry.record.shim_candidates;
    shims[id] = candidates.empty() ? 0 : *candidates.rbegin();
  }
  std::vector<SandboxId> ids;
  for (const auto& [id, pid] : shims) ids.push_back(id);
  std::stable_sort(ids.begin(), ids.end(),
                   [&](const auto& a, const auto& b) { return shims.at(a) > shims.at(b); });
  return ids;
}

/// What search and looks may take in each interval: 0.8 % of a CPU. A few looks always go.
Instant Resync::share() const {
  return std::max(Instant(node_.config.reconcile_interval) / kShare, kLeast);
}

/// What the search has left of the share.
void Resync::allow_looks() {
  const auto left = search_left_;
  node_.scheduler.allow_background(left ? std::optional(share() / 2 + *left) : std::nullopt);
}

/// Everything is due now.
void Resync::end() {
  const bool first = !std::exchange(node_.looked, true);
  if (left_->marks)
    for (const auto& [id, groups] : left_->marks->found())
      node_.sandboxes.get(id).record.found_groups.insert_all(groups);
  left_.reset();
  node_.inputs.drop_stale_states();
  const auto now = node_.world.clock.now();
  const auto ids = youngest_first();
  if (first) node_.chronicle.all_seen(ids);
  allow_looks();
  for (const auto& id : ids) node_.scheduler.due(id, first ? Due::event : Due::background, now);
  for (const auto& act : std::exchange(early_, {})) act();
  if (std::exchange(again_, false)) resync();
  node_.turns.arm();
}

void Resync::when_all_known(std::function<void()> act) {
  if (node_.looked) return act();
  early_.push_back(std::move(act));
}

}  // namespace kcg
