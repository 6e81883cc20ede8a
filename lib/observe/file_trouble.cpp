// SPDX-License-Identifier: Apache-2.0
#include "observe/file_trouble.hpp"

#include <algorithm>
#include <utility>

namespace kcg {

namespace {

constexpr Instant kFirstPause = std::chrono::milliseconds(50);

}  // namespace

void FileTrouble::seen(std::string text, Instant now, Instant unchanged) {
  const bool first = !any();
  seen_.change([&](Seen& seen) {
    if (first) seen.since = now - std::clamp(unchanged, Instant(0), kTroubleTold);
    seen.text = std::move(text);
    if (seen.next && now < *seen.next) return;  // an event came before the time
    const auto tell_at = seen.since + kTroubleTold;
    seen.next.reset();
    if (now < tell_at)
      seen.next = std::min(now + doubled(kFirstPause, seen.tries++, kTroubleTold), tell_at);
  });
}

}  // namespace kcg
