// SPDX-License-Identifier: Apache-2.0
#include "record/parts.hpp"

#include <algorithm>
#include <utility>

namespace kcg {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Instant kMoveRetry = milliseconds(6);
/// After that many doublings it is said. On v1 nobody tells when a group has become empty, and on
/// v2 nobody when a group below ours, in which nobody was, has gone.
constexpr Instant kBlockedPause = seconds(5);
constexpr Instant kToldPause = seconds(60);
constexpr Instant kLongestRemovalPause = milliseconds(1 << (kRemovalTries - 1));
/// What could not be read is read again after this, doubling up to half a minute.
constexpr Instant kUnreadRetry = milliseconds(50);
constexpr Instant kUnreadRetryMost = milliseconds(25'600);
constexpr Instant kLongestLasting = std::chrono::minutes(5);

/// What is over needs no look of its own.
std::optional<Instant> still_ahead(Instant due, Instant now) {
  return due > now ? std::optional(due) : std::nullopt;
}

/// What nobody tells the end of is looked at again when it has lasted twice as long. A thousand
/// sandboxes where it never ends may not cost more than the resync.
Instant when_it_may_be_over(Instant since, Instant now) {
  return now + std::clamp<Instant>(now - since, kEndGrace, kLongestLasting);
}

}  // namespace

std::optional<Instant> earlier(std::optional<Instant> a, std::optional<Instant> b) {
  return a && b ? std::min(*a, *b) : a ? a : b;
}

Heals::Heals(const HealCounts& counts)
    : contested_(std::any_of(counts.begin(), counts.end(),
                             [](const auto& one) { return !one.second.contest.ordinary(); })) {
  if (!counts.empty()) packed_ = Packed(counts);
}

std::optional<Instant> Heals::wake(Instant now) const {
  if (!contested_) return std::nullopt;
  std::optional<Instant> next;
  const auto all = counts();
  for (const auto& [key, heal] : all)
    next = earlier(next, still_ahead(heal.contest->quiet_until, now));
  return next;
}

std::optional<Instant> VmmLife::wake(Instant now) const {
  return ended ? still_ahead(*ended + kVmmEndGrace, now) : std::nullopt;
}

std::optional<Instant> ScopeTries::wake(Instant now) const {
  const auto told = told_from ? still_ahead(*told_from, now) : std::nullopt;
  if (pending) return earlier(asked + kJobTimeout, told);
  return tries > 0 ? earlier(std::max(due, now), told) : std::nullopt;
}

std::optional<Instant> Retries::wake(Instant now) const {
  if (removals > kRemovalTries) return now + (end_is_told ? kToldPause : kBlockedPause);
  if (removals > 0) return now + doubled(milliseconds(1), removals - 1, kLongestRemovalPause);
  if (moves > 0 && moves <= kMoveTries) return now + kMoveRetry;
  return std::nullopt;
}

std::optional<Instant> Unread::wake(Instant now) const {
  if (tries == 0) return std::nullopt;
  return now + doubled(kUnreadRetry, tries - 1, kUnreadRetryMost);
}

std::optional<Instant> Failures::wake(Instant now) const {
  std::optional<Instant> next;
  for (const auto& [step, first] : since)
    next = earlier(next,
                   still_ahead(first + kEndGrace, now).value_or(when_it_may_be_over(first, now)));
  return next;
}

std::optional<Instant> Unrest::wake(Instant now) const {
  const auto vcpus = vcpuless_since ? still_ahead(*vcpuless_since + kVcpuGrace, now) : std::nullopt;
  if (!strangers_since) return vcpus;
  return earlier(vcpus, when_it_may_be_over(*strangers_since, now));
}

void UnnamedThreads::add(const TaskKey& key, ThreadClass cls, ClassSource by, bool named_vcpu) {
  any_vcpu = any_vcpu || cls == ThreadClass::vcpu;
  vcpus_have_names = vcpus_have_names || (cls == ThreadClass::vcpu && named_vcpu);
  if (by == ClassSource::fallback || by == ClassSource::role) keys.insert(key);
}

void Unnamed::plan_look(UnnamedThreads found, Instant now) {
  if (!std::includes(threads.begin(), threads.end(), found.keys.begin(), found.keys.end())) {
    looks = 0;
    since = now;
  }
  threads = std::move(found.keys);
  due.reset();
  if (threads.empty() || found.all_told()) return;
  const auto age = now - since;
  if (age > milliseconds(500)) {
    if (found.kvm_incomplete)
      due = now + std::clamp<Instant>(age, milliseconds(500), seconds(30));
    else if (!found.any_vcpu && age < kVcpuGrace)
      due = since + kVcpuGrace;
    else if (!found.any_vcpu)
      due = now + std::min<Instant>(age, seconds(30));
    return;
  }
  if (found.vcpus_have_names)
    due = now + (looks++ == 0 ? milliseconds(4) : milliseconds(500));
  else if (found.kvm_tells())
    due = now + milliseconds(500);
  else
    due = now + doubled(milliseconds(1), looks++, milliseconds(256));
}

}  // namespace kcg
