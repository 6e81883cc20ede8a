// SPDX-License-Identifier: Apache-2.0
#include "measure/histogram.hpp"

#include <bit>

namespace kcg {

namespace {

constexpr unsigned kPartBits = 5;
constexpr unsigned kParts = 1U << kPartBits;  ///< of a doubling

}  // namespace

Histogram::Step Histogram::step_of(std::uint64_t value) {
  if (value < 2 * kParts) return static_cast<Step>(value);
  const auto shift = static_cast<unsigned>(std::bit_width(value)) - 1 - kPartBits;
  return static_cast<Step>(shift * kParts + (value >> shift));
}

std::uint64_t Histogram::longest(Step step) {
  if (step < 2 * kParts) return step;
  const unsigned shift = step / kParts - 1;
  const std::uint64_t part = step - shift * kParts;
  // Of the last step that is 2^64 - 1: the shift drops the highest bit.
  return ((part + 1) << shift) - 1;
}

void Histogram::count_in(Step step, std::uint64_t times) {
  if (times == 0) return;
  steps_[step] += times;
  count_ += times;
}

void Histogram::add(const Histogram& other) {
  for (const auto& [step, times] : other.steps_) count_in(step, times);
}

std::uint64_t Histogram::at(std::uint64_t rank) const {
  std::uint64_t seen = 0;
  for (const auto& [step, times] : steps_) {
    seen += times;
    if (seen >= rank) return longest(step);
  }
  return 0;
}

std::uint64_t Histogram::percentile(unsigned hundredths) const {
  return at(count_ - count_ * (100 - hundredths) / 100);
}

std::uint64_t Histogram::within(std::uint64_t bound) const {
  std::uint64_t seen = 0;
  for (const auto& [step, times] : steps_) {
    if (longest(step) > bound) break;
    seen += times;
  }
  return seen;
}

}  // namespace kcg
