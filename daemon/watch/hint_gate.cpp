// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/hint_gate.hpp"

#include <algorithm>

namespace kcg {

namespace {

constexpr Instant kSweepPause = HintGate::kThreadPause * HintGate::kBurst;
/// Fewer are not worth looking through before that.
constexpr std::size_t kFewSubjects = 64;

Instant pause_of(HintKind kind) {
  switch (kind) {
    case HintKind::thread:
      return HintGate::kThreadPause;
    case HintKind::bundle:
    case HintKind::kata_state:
      return HintGate::kFilePause;
    default:
      return HintGate::kPause;
  }
}

}  // namespace

bool HintGate::admit(const Hint& hint, Instant now) {
  Subject subject{hint.kind, hint.text, hint.pid};
  if (kept_.contains(subject)) return false;
  if (now >= sweep_ || spent_.size() >= sweep_at_) forget_quiet(now);
  auto& full = spent_[subject];
  const auto pause = pause_of(hint.kind);
  const auto spent = std::max(full, now) + pause;
  const auto most = now + pause * kBurst;
  if (spent <= most) {
    full = spent;
    return true;
  }
  const auto when = now + (spent - most);
  order_.emplace(when, subject);
  kept_.insert(std::move(subject));
  return false;
}

std::vector<Hint> HintGate::due(Instant now) {
  std::vector<Hint> hints;
  while (!order_.empty() && order_.begin()->first <= now) {
    const auto subject = order_.extract(order_.begin()).value().second;
    const auto& [kind, text, pid] = subject;
    hints.push_back({kind, text, pid});
    auto& full = spent_[subject];
    full = std::max(full, now) + pause_of(kind);
    kept_.erase(subject);
  }
  return hints;
}

std::optional<Instant> HintGate::next() const {
  if (order_.empty()) return std::nullopt;
  return order_.begin()->first;
}

/// Amortised: once per time in which every budget fills up, and where as many have come as were
/// left the last time.
void HintGate::forget_quiet(Instant now) {
  std::erase_if(spent_, [now](const auto& one) { return one.second <= now; });
  if (spent_.size() >= kMostSubjects) spent_.clear();
  sweep_ = now + kSweepPause;
  sweep_at_ = std::clamp(spent_.size() * 2, kFewSubjects, kMostSubjects);
}

}  // namespace kcg
