// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/gated_sink.hpp"

namespace kcg {

void GatedSink::operator()(const Hint& hint) {
  if (gate_.admit(hint, clock_.now())) return sink_(hint);
  arm();
}

void GatedSink::pass_due() {
  timer_ = Source();
  for (const auto& hint : gate_.due(clock_.now())) sink_(hint);
  arm();
}

void GatedSink::arm() {
  const auto next = gate_.next();
  if (timer_ && next == armed_) return;
  timer_ = Source();
  armed_ = next;
  if (!next) return;
  auto timer = loop_.at(*next, [this] { pass_due(); });
  if (timer)
    timer_ = std::move(*timer);
  else
    for (const auto& hint : gate_.due(*next)) sink_(hint);  // rather too early than never
}

}  // namespace kcg
