// SPDX-License-Identifier: Apache-2.0
#include "daemon/node/latencies.hpp"

#include <algorithm>
#include <bit>

#include "model/ticks.hpp"

namespace kcg {

void Latencies::add(Instant took) {
  const auto usec = static_cast<std::uint64_t>(std::max<Instant::rep>(took.count(), 1));
  const auto doubling = static_cast<unsigned>(std::bit_width(usec)) - 1;
  const auto rest = usec - (std::uint64_t{1} << doubling);
  const auto part = doubling < 3 ? rest << (3 - doubling) : rest >> (doubling - 3);
  const auto step = std::size_t{doubling} * kParts + part;
  ++counts_.at(std::min(step, counts_.size() - 1));
  ++count_;
}

LatencyFacts Latencies::facts() const {
  if (count_ == 0) return {};
  return {count_, at((count_ + 1) / 2), at(count_ - count_ / 100)};
}

/// The longest time of the step that holds it.
Instant Latencies::at(std::uint64_t rank) const {
  std::size_t step = 0;
  for (std::uint64_t seen = counts_[0]; seen < rank; seen += counts_.at(++step)) continue;
  const auto doubling = step / kParts;
  const auto part = step % kParts;
  // Below 8 microseconds each number has a step of its own.
  const auto rest = doubling < 3 ? part >> (3 - doubling) : ((part + 1) << (doubling - 3)) - 1;
  return Instant(static_cast<Instant::rep>((std::uint64_t{1} << doubling) + rest));
}

Instant placed_after(Instant born, std::optional<Instant> heard, Instant now) {
  const auto most = std::max(now - born, Instant(0));
  const auto least = std::max(most - Instant(kUsecPerTick), Instant(0));
  return heard ? std::clamp(now - *heard, least, most) : most;
}

}  // namespace kcg
