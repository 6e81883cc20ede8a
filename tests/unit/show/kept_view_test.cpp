// SPDX-License-Identifier: Apache-2.0
#include "show/kept_view.hpp"

#include <gtest/gtest.h>

#include <string>

#include "support/sample_views.hpp"

namespace kcg {
namespace {

TEST(KeptView, GivesBackWhatItWasGiven) {
  for (const auto& view : {samples::degraded(), samples::legacy(), samples::ignored()})
    EXPECT_EQ(KeptView(view).whole(), view) << view.id;
  EXPECT_GT(samples::degraded().groups.size(), 1U);
}

TEST(KeptView, TakesAnyText) {
  SandboxView view;
  view.sandbox_cgroup = "/kubepods/pod1/kata-sandbox-1";
  GroupView odd;
  odd.path = "/kubepods/elsewhere";
  odd.hierarchies = {"", std::string("\0\n", 2)};
  odd.limits = {{"", ""}, {std::string(70'000, 'k'), std::string("\0max", 4)}};
  odd.wanted = {{"cpu.max", "max 100000"}};
  odd.memory_current = 0;
  GroupView empty;
  view.groups = {odd, empty, odd};
  EXPECT_EQ(KeptView(view).whole(), view);
  view.sandbox_cgroup.clear();
  EXPECT_EQ(KeptView(view).whole(), view);
}

TEST(KeptView, OfNobodyIsOfNobody) { EXPECT_EQ(KeptView().whole(), SandboxView()); }

TEST(KeptView, TakesNewsOfItsConditionAlone) {
  auto view = samples::degraded();
  KeptView kept(view);
  kept.set_condition(SandboxState::placed, {});
  view.state = SandboxState::placed;
  view.conditions.clear();
  EXPECT_EQ(kept.whole(), view);
}

}  // namespace
}  // namespace kcg
