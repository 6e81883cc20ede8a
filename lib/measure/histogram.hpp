// SPDX-License-Identifier: Apache-2.0
//
// How often values of each size were seen (L3, pure). Of bounded size: below 64 each value counts
// for itself, above it in steps of a 32nd of a doubling. What is told of a value is at most 3.2 %
// too large, and never too small.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace kcg {

/// Value: see the head of the file.
class Histogram final {
 public:
  /// Number of a step, from 0 on.
  using Step = std::uint16_t;
  static constexpr Step kSteps = 1920;  ///< of 64 bits

  void add(std::uint64_t value) { count_in(step_of(value), 1); }
  /// `step` is less than kSteps.
  void count_in(Step step, std::uint64_t times);
  void add(const Histogram& other);

  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// The value of this rank, from 1 on: 1 is the smallest. 0: there are not so many.
  [[nodiscard]] std::uint64_t at(std::uint64_t rank) const;
  /// The value that so many of 100 do not exceed; 0: there is none.
  [[nodiscard]] std::uint64_t percentile(unsigned hundredths) const;
  /// How many are surely not above `bound`.
  [[nodiscard]] std::uint64_t within(std::uint64_t bound) const;
  /// What was counted in each step where something was.
  [[nodiscard]] const std::map<Step, std::uint64_t>& steps() const { return steps_; }

  bool operator==(const Histogram&) const = default;

 private:
  [[nodiscard]] static Step step_of(std::uint64_t value);
  /// The largest value that this step counts.
  [[nodiscard]] static std::uint64_t longest(Step step);

  std::map<Step, std::uint64_t> steps_;
  std::uint64_t count_ = 0;
};

}  // namespace kcg
