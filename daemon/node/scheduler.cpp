// SPDX-License-Identifier: Apache-2.0
#include "daemon/node/scheduler.hpp"

#include <algorithm>
#include <utility>

namespace kcg {

namespace {

/// How many turns of more urgent lanes a lane lets pass. A slice of a job takes several times as
/// long as a pass.
constexpr std::array<unsigned, 5> kPatience = {0, 4, 6, 12, 32};
/// Which part of its budget a pass may begin with. The exec of a VMM may use up a second reserve:
/// it is what the daemon is for.
Instant allowed(const Budget& budget, Due why, Instant now) {
  switch (why) {
    case Due::placement:
      return budget.allowed(now, 2);
    case Due::event:
      return budget.allowed(now);
    case Due::change:
    case Due::background:
      return now;
  }
  return now;
}

}  // namespace

std::string_view name(Due why) {
  switch (why) {
    case Due::placement:
      return "placement";
    case Due::change:
      return "change";
    case Due::event:
      return "event";
    case Due::background:
      return "background";
  }
  return "event";
}

void Scheduler::due(const SandboxId& id, Due why, Instant now) {
  auto& sandbox = sandboxes_[id];
  if (why == Due::background && sandbox.lane && *sandbox.lane != why && !sandbox.owed)
    sandbox.owed = ++tickets_;
  if (sandbox.lane && *sandbox.lane <= why) return;
  if (why != Due::background) {
    const auto begin = std::max(sandbox.held, allowed(sandbox.budget, why, now));
    if (begin > now) return wake(id, sandbox.wakes ? std::min(*sandbox.wakes, begin) : begin);
  }
  enqueue(id, sandbox, why);
}

/// One that becomes more urgent keeps its ticket, and with it its age.
void Scheduler::enqueue(const SandboxId& id, Sandbox& sandbox, Due why) {
  if (sandbox.lane == Due::background) sandbox.owed = sandbox.ticket;
  if (sandbox.lane)
    leave_lane(sandbox);
  else
    sandbox.ticket = ++tickets_;
  sandbox.lane = why;
  lanes_[static_cast<std::size_t>(why)].emplace(sandbox.ticket, id);
}

void Scheduler::leave_lane(Sandbox& sandbox) {
  if (!sandbox.lane) return;
  lanes_[static_cast<std::size_t>(*sandbox.lane)].erase(sandbox.ticket);
  sandbox.lane.reset();
}

void Scheduler::looked(const SandboxId& id) {
  if (const auto it = sandboxes_.find(id); it != sandboxes_.end()) it->second.owed.reset();
}

void Scheduler::glanced(const SandboxId& id) {
  const auto it = sandboxes_.find(id);
  if (it == sandboxes_.end() || !it->second.owed || it->second.lane) return;
  auto& sandbox = it->second;
  sandbox.ticket = *std::exchange(sandbox.owed, std::nullopt);
  sandbox.lane = Due::background;
  lanes_[static_cast<std::size_t>(Due::background)].emplace(sandbox.ticket, id);
}

void Scheduler::covered(const SandboxId& id) {
  if (const auto it = sandboxes_.find(id); it != sandboxes_.end()) leave_lane(it->second);
}

void Scheduler::wake(const SandboxId& id, std::optional<Instant> when) {
  auto& sandbox = sandboxes_[id];
  if (sandbox.wakes) sleeping_.erase({*sandbox.wakes, id});
  sandbox.wakes = when;
  if (when) sleeping_.emplace(*when, id);
}

void Scheduler::charge(const SandboxId& id, Due why, Instant cpu, Instant now) {
  if (why == Due::background && background_left_) *background_left_ -= cpu;
  if (const auto it = sandboxes_.find(id); it != sandboxes_.end())
    it->second.budget.charge(cpu, now);
}

void Scheduler::pardon(const SandboxId& id) {
  const auto it = sandboxes_.find(id);
  if (it == sandboxes_.end()) return;
  it->second.budget = {};
  it->second.held = Instant(0);
}

void Scheduler::forget(const SandboxId& id) {
  const auto it = sandboxes_.find(id);
  if (it == sandboxes_.end()) return;
  leave_lane(it->second);
  if (it->second.wakes) sleeping_.erase({*it->second.wakes, id});
  sandboxes_.erase(it);
}

void Scheduler::run_job() {
  if (jobs_.empty()) return;
  auto job = std::move(jobs_.front());
  jobs_.pop_front();
  if (job()) jobs_.push_front(std::move(job));
}

void Scheduler::wake_due(Instant now) {
  while (!sleeping_.empty() && sleeping_.begin()->first <= now) {
    const auto id = sleeping_.extract(sleeping_.begin()).value().second;
    sandboxes_.at(id).wakes.reset();
    due(id, Due::event, now);
  }
}

void Scheduler::allow_background(std::optional<Instant> cpu) {
  if (background_left_ || background().empty() || !cpu) background_left_ = cpu;
}

bool Scheduler::waiting(std::size_t lane) const {
  if (lane == kJobs) return !jobs_.empty();
  const bool may =
      &lanes_[lane] != &background() || background_left_.value_or(Instant(1)) > Instant(0);
  return may && !lanes_[lane].empty();
}

/// The most urgent lane, unless another one has been overtaken for too long.
std::optional<std::size_t> Scheduler::choose() {
  std::optional<std::size_t> chosen;
  for (std::size_t lane = 0; lane <= kJobs; ++lane) {
    if (!waiting(lane)) overtaken_[lane] = 0;
    if (!waiting(lane)) continue;
    if (!chosen || overtaken_[lane] >= kPatience[lane]) chosen = lane;
  }
  if (!chosen) return std::nullopt;
  overtaken_[*chosen] = 0;
  for (std::size_t lane = 0; lane <= kJobs; ++lane)
    if (lane != *chosen && waiting(lane)) ++overtaken_[lane];
  return chosen;
}

std::optional<Turn> Scheduler::next(Instant now) {
  wake_due(now);
  const auto lane = choose();
  if (!lane) return std::nullopt;
  if (*lane == kJobs) return Turn{};
  Turn turn{lanes_[*lane].begin()->second, static_cast<Due>(*lane)};
  leave_lane(sandboxes_.at(*turn.sandbox));
  wake(*turn.sandbox, std::nullopt);  // the pass says anew when it wants to be woken
  return turn;
}

std::optional<Instant> Scheduler::next_at(Instant now) const {
  for (std::size_t lane = 0; lane <= kJobs; ++lane)
    if (waiting(lane)) return now;
  if (sleeping_.empty()) return std::nullopt;
  return sleeping_.begin()->first;
}

}  // namespace kcg
