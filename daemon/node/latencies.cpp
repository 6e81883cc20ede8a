// SPDX-License-Identifier: Apache-2.0
#include "daemon/node/latencies.hpp"

#include <algorithm>
#include <bit>

#include "model/ticks.hpp"

namespace kcg {

namespace {

constexpr std::array<Instant::rep, 13> kBoundsMs = {1,   2,   5,    10,   20,   50,    100,
                                                    200, 500, 1000, 2000, 5000, 10'000};

}  // namespace

Instant Latencies::longest(std::size_t step) {
  const auto doubling = step / kParts;
  const auto part = step % kParts;
  // Below 8 microseconds each number has a step of its own.
  const auto rest = doubling < 3 ? part >> (3 - doubling) : ((part + 1) << (doubling - 3)) - 1;
  return Instant(static_cast<Instant::rep>((std::uint64_t{1} << doubling) + rest));
}

void Latencies::add(Instant took) {
  constexpr Instant kMost = std::chrono::hours(24 * 12);
  const auto usec = static_cast<std::uint64_t>(std::clamp(took, Instant(1), kMost).count());
  const auto doubling = static_cast<unsigned>(std::bit_width(usec)) - 1;
  const auto rest = usec - (std::uint64_t{1} << doubling);
  const auto part = doubling < 3 ? rest << (3 - doubling) : rest >> (doubling - 3);
  const auto step = std::size_t{doubling} * kParts + part;
  ++counts_.at(std::min(step, counts_.size() - 1));
  ++count_;
  sum_ += Instant(static_cast<Instant::rep>(usec));
}

LatencyFacts Latencies::facts() const {
  if (count_ == 0) return {};
  return {count_, at((count_ + 1) / 2), at(count_ - count_ / 100), sum_, within()};
}

Instant Latencies::at(std::uint64_t rank) const {
  std::size_t step = 0;
  for (std::uint64_t seen = counts_[0]; seen < rank; seen += counts_.at(++step)) continue;
  return longest(step);
}

std::map<Instant, std::uint64_t> Latencies::within() const {
  std::map<Instant, std::uint64_t> out;
  std::uint64_t seen = 0;
  std::size_t step = 0;
  for (const auto ms : kBoundsMs) {
    const Instant bound = std::chrono::milliseconds(ms);
    for (; step < counts_.size() && longest(step) <= bound; ++step) seen += counts_.at(step);
    out[bound] = seen;
  }
  return out;
}

Instant placed_after(Instant born, std::optional<Instant> heard, Instant now) {
  const auto most = std::max(now - born, Instant(0));
  const auto least = std::max(most - Instant(kUsecPerTick), Instant(0));
  return heard ? std::clamp(now - *heard, least, most) : most;
}

}  // namespace kcg
