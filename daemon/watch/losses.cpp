// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/losses.hpp"

#include <utility>

namespace kcg {

void Losses::one() {
  ++count_;
  if (count_ == kMost)
    tell_(
        "events are lost again and again; everything is looked at each time, which takes longer "
        "than an event");
  auto timer = loop_.at(clock_.now() + quiet_, [this] { end(); });
  if (timer) timer_ = std::move(*timer);
}

void Losses::end() {
  timer_ = Source();
  if (std::exchange(count_, 0) >= kMost) tell_("");
}

}  // namespace kcg
