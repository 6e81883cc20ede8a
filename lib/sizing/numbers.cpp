// SPDX-License-Identifier: Apache-2.0
//
// Checked arithmetic and the two curves from cpu.shares to cpu.weight.
#include <algorithm>
#include <cmath>
#include <limits>

#include "sizing/numbers.hpp"
#include "sizing/parts.hpp"

namespace kcg {

namespace {

using sizing::kMaxShares;
using sizing::kMinShares;

/// For a product that may exceed 64 bits while the quotient does not.
__extension__ typedef unsigned __int128 Wide;

}  // namespace

std::uint64_t weight_of_shares(std::uint64_t shares) {
  if (shares <= kMinShares) return 1;
  if (shares >= kMaxShares) return 10'000;
  const double l = std::log2(static_cast<double>(shares));
  const double exponent = (l * l + 125.0 * l) / 612.0 - 7.0 / 34.0;
  return static_cast<std::uint64_t>(std::ceil(std::pow(10.0, exponent)));
}

std::uint64_t weight_of_shares_old(std::uint64_t shares) {
  const auto bounded = std::clamp(shares, kMinShares, kMaxShares);
  return 1 + (bounded - kMinShares) * 9999 / (kMaxShares - kMinShares);
}

namespace sizing {

std::optional<std::uint64_t> add(std::uint64_t a, std::uint64_t b) {
  if (a > std::numeric_limits<std::uint64_t>::max() - b) return std::nullopt;
  return a + b;
}

std::optional<std::uint64_t> multiply(std::uint64_t a, std::uint64_t b) {
  if (b != 0 && a > std::numeric_limits<std::uint64_t>::max() / b) return std::nullopt;
  return a * b;
}

std::optional<std::uint64_t> round_up(std::uint64_t value, std::uint64_t step) {
  const auto rest = step == 0 ? 0 : value % step;
  return rest == 0 ? value : add(value, step - rest);
}

std::optional<std::uint64_t> per_100ms(std::uint64_t quota, std::uint64_t period) {
  if (period == 0) period = kPeriodUs;
  const Wide exact = (Wide{quota} * kPeriodUs + (period - 1)) / period;
  if (exact > std::numeric_limits<std::uint64_t>::max()) return std::nullopt;
  return static_cast<std::uint64_t>(exact);
}

std::uint64_t weight_like_parent(std::uint64_t shares, const SizingParent& parent,
                                 std::uint64_t overhead_cpu_milli) {
  if (parent.pod_weight) {
    const auto pod = std::min(parent.pod_shares.value_or(shares), kMaxShares);
    // 1000 millicores are 1024 shares.
    const auto extra = std::min(overhead_cpu_milli, kMaxShares) * 1024 / 1000;
    const auto reproduces = [&](std::uint64_t (*curve)(std::uint64_t)) {
      return curve(pod) == *parent.pod_weight || curve(pod + extra) == *parent.pod_weight;
    };
    if (reproduces(weight_of_shares_old) && !reproduces(weight_of_shares))
      return weight_of_shares_old(shares);
  }
  return weight_of_shares(shares);
}

}  // namespace sizing

}  // namespace kcg
