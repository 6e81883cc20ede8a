// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "model/fields.hpp"
#include "support/sample_views.hpp"

namespace kcg {
namespace {

TEST(Packed, ViewsAreGivenBackAsTheyWere) {
  for (const auto& view : {samples::degraded(), samples::legacy(), samples::ignored()})
    EXPECT_EQ(Packed(view).whole(), view) << view.id;
  EXPECT_GT(samples::degraded().groups.size(), 1U);
}

}  // namespace
}  // namespace kcg
