// SPDX-License-Identifier: Apache-2.0
#include "daemon/node/turns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "daemon/node/cpu_time.hpp"

namespace kcg {

namespace {

constexpr Instant kTurnSlice = std::chrono::milliseconds(10);

}  // namespace

void Turns::arm() {
  const auto now = clock_.now();
  auto when = scheduler_.next_at(now);
  if (!timers_.empty())
    when = std::min(when.value_or(Instant::max()), timers_.begin()->first.first);
  if (when && *when <= now) {
    if (soon_) return;
    auto source = loop_.soon([this] { work(); });
    if (!source) return log_.error(fmt::format("event loop: {}", source.error().text));
    soon_ = std::move(*source);
    return;
  }
  if (when == timer_at_) return;
  timer_ = Source();
  timer_at_ = when;
  if (!when) return;
  auto source = loop_.at(*when, [this] { work(); });
  if (!source) return log_.error(fmt::format("timer: {}", source.error().text));
  timer_ = std::move(*source);
}

void Turns::work() {
  soon_ = Source();
  timer_ = Source();
  timer_at_.reset();
  run_timers();
  const auto until = clock_.now() + kTurnSlice;
  for (auto now = clock_.now(); now < until; now = clock_.now()) {
    const auto turn = scheduler_.next(now);
    if (!turn) break;
    take(*turn);
  }
  arm();
}

void Turns::take(const Turn& turn) {
  if (!turn.sandbox) return guarded("a job over the node", [this] { scheduler_.run_job(); });
  const auto before = thread_cpu_time();
  guarded("a pass", [&] { look_(*turn.sandbox, turn.why); });
  scheduler_.charge(*turn.sandbox, turn.why, thread_cpu_time() - before, clock_.now());
}

Timer Turns::after(Instant when, std::function<void()> act) {
  const Timer timer{when, ++timers_made_};
  timers_.emplace(timer, std::move(act));
  arm();
  return timer;
}

void Turns::run_timers() {
  const auto now = clock_.now();
  while (!timers_.empty() && timers_.begin()->first.first <= now) {
    const auto act = std::move(timers_.extract(timers_.begin()).mapped());
    guarded("a timer", act);
  }
}

void Turns::guarded(const char* what, const std::function<void()>& act) const {
  try {
    act();
  } catch (const std::exception& error) {
    log_.error(fmt::format("{} failed: {}; the next full look sees to it", what, error.what()));
  }
}

}  // namespace kcg
