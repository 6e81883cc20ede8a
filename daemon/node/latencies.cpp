// SPDX-License-Identifier: Apache-2.0
#include "daemon/node/latencies.hpp"

#include <algorithm>
#include <array>

#include "model/ticks.hpp"

namespace kcg {

namespace {

constexpr std::array<Instant::rep, 13> kBoundsMs = {1,   2,   5,    10,   20,   50,    100,
                                                    200, 500, 1000, 2000, 5000, 10'000};

}  // namespace

void Latencies::add(Instant took) {
  constexpr Instant kMost = std::chrono::hours(24 * 12);
  const auto counted = std::clamp(took, Instant(1), kMost);
  took_.add(static_cast<std::uint64_t>(counted.count()));
  sum_ += counted;
}

LatencyFacts Latencies::facts() const {
  if (took_.count() == 0) return {};
  const auto time = [this](unsigned hundredths) {
    return Instant(static_cast<Instant::rep>(took_.percentile(hundredths)));
  };
  return {took_.count(), time(50), time(99), sum_, within()};
}

std::map<Instant, std::uint64_t> Latencies::within() const {
  std::map<Instant, std::uint64_t> out;
  for (const auto ms : kBoundsMs) {
    const Instant bound = std::chrono::milliseconds(ms);
    out[bound] = took_.within(static_cast<std::uint64_t>(bound.count()));
  }
  return out;
}

Instant placed_after(Instant born, std::optional<Instant> heard, Instant now) {
  const auto most = std::max(now - born, Instant(0));
  const auto least = std::max(most - Instant(kUsecPerTick), Instant(0));
  return heard ? std::clamp(now - *heard, least, most) : most;
}

}  // namespace kcg
