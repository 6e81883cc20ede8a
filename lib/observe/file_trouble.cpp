// SPDX-License-Identifier: Apache-2.0
#include "observe/file_trouble.hpp"

#include <algorithm>
#include <utility>

namespace kcg {

namespace {

constexpr Instant kFirstPause = std::chrono::milliseconds(50);

}  // namespace

void FileTrouble::seen(std::string text, Instant now, Instant unchanged) {
  if (!any()) since_ = now - std::clamp(unchanged, Instant(0), kTroubleTold);
  text_ = std::move(text);
  if (next_ && now < *next_) return;  // an event came before the time
  if (told(now)) {
    next_.reset();
    return;
  }
  next_ = std::min(now + doubled(kFirstPause, tries_++, kTroubleTold), since_ + kTroubleTold);
}

}  // namespace kcg
