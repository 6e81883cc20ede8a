// SPDX-License-Identifier: Apache-2.0
#include "kernel/last_pid.hpp"

#include <gtest/gtest.h>

namespace kcg {
namespace {

TEST(LastPid, IsTheLastField) {
  EXPECT_EQ(last_pid("0.20 0.18 0.12 1/80 11206\n"), 11206);
  EXPECT_EQ(last_pid("12.00 8.25 7.99 33/4412 4194303\n"), 4194303);
}

TEST(LastPid, Refuses) {
  for (const char* bad :
       {"", "0.20 0.18 0.12 1/80", "0.20 0.18 0.12 1/80 -1\n", "0.20 0.18 0.12 1/80 x\n",
        "0.20 0.18 0.12 1/80 2147483648\n", "0.20 0.18 0.12 1/80 1 2\n"})
    EXPECT_FALSE(last_pid(bad)) << bad;
}

}  // namespace
}  // namespace kcg
