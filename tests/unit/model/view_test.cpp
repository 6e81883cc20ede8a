// SPDX-License-Identifier: Apache-2.0
#include "model/view.hpp"

#include <gtest/gtest.h>

namespace kcg {
namespace {

TEST(SandboxView, FailsWithAnythingAboveInfo) {
  SandboxView view;
  EXPECT_FALSE(view.failing());
  view.conditions.push_back({{ConditionName::quota_clamped, ""}, 0});
  EXPECT_FALSE(view.failing()) << "info is no failure";
  view.conditions.push_back({{ConditionName::contested, ""}, 0});
  EXPECT_TRUE(view.failing());
}

}  // namespace
}  // namespace kcg
