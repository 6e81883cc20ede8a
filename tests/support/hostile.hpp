// SPDX-License-Identifier: Apache-2.0
//
// Observations that no honest node shows: inconsistent, forged, half-read. Whatever they are, no
// plan may write where it must not.
#pragma once

#include <cstdint>
#include <functional>

#include "model/config.hpp"
#include "model/observed.hpp"

namespace kcg::test {

/// A source of choices: 0 <= result < bound, for a bound of at least 1. Random numbers in property
/// tests, a fuzzer's bytes in fuzz targets.
using Choose = std::function<std::uint64_t(std::uint64_t bound)>;

/// Value: what desired() and diff() are given.
struct Hostile {
  Config config;
  Observed observed;
};
[[nodiscard]] Hostile hostile(const Choose& choose);

}  // namespace kcg::test
