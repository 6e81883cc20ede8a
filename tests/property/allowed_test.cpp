// SPDX-License-Identifier: Apache-2.0
//
// Whatever is observed, no plan contains a write outside the allowed set.
#include "support/allowed.hpp"

#include <gtest/gtest.h>

#include "plan/desired.hpp"
#include "plan/diff.hpp"
#include "property/random.hpp"
#include "support/hostile.hpp"

namespace kcg::test {
namespace {

constexpr std::uint64_t kCases = 8'000;

TEST(Allowed, ForArbitraryObservations) {
  std::size_t steps = 0;
  for (std::uint64_t k = 0; k < case_count(kCases); ++k) {
    Random random(first_seed() + k);
    const auto given = hostile([&random](std::uint64_t bound) { return random.below(bound); });
    const auto want = desired(given.config, given.observed);
    const auto plan = diff(given.observed, want);
    steps += plan.steps.size();
    ASSERT_EQ(forbidden_text(given.config, given.observed, plan), "")
        << "KCG_SEED=" << first_seed() + k << " KCG_CASES=1\ncgroupsPath "
        << given.observed.inputs.cgroups_path().value_or("(none)") << " form "
        << static_cast<int>(want.form);
  }
  // A generator whose sandboxes are never placed would prove nothing.
  if (case_count(kCases) >= kCases) {
    EXPECT_GT(steps, kCases);
  }
}

}  // namespace
}  // namespace kcg::test
