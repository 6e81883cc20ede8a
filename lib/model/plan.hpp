// SPDX-License-Identifier: Apache-2.0
//
// The steps that lead to what is wanted, and what became of them (L1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/desired.hpp"
#include "model/step.hpp"

namespace kcg {

/// Value: ordered steps; empty when all is well.
struct Plan {
  std::vector<Step> steps;
  bool operator==(const Plan&) const = default;
};

enum class Outcome : std::uint8_t { done, failed, skipped, pending };

/// Value: what became of one step. `code` is the errno of a failure.
struct StepResult {
  Step step;
  Outcome outcome = Outcome::done;
  int code = 0;
  std::string text;
  bool stranger = false;  ///< the pid was reused during the write and was put back
  bool operator==(const StepResult&) const = default;
};

/// Of a step that was not tried.
[[nodiscard]] inline StepResult skipped(Step step, std::string why) {
  return {std::move(step), Outcome::skipped, 0, std::move(why)};
}

/// Value: what became of a plan.
struct Report {
  std::vector<StepResult> results;
  [[nodiscard]] std::size_t done() const {
    std::size_t count = 0;
    for (const auto& r : results) count += r.outcome == Outcome::done ? 1U : 0U;
    return count;
  }
};

}  // namespace kcg
