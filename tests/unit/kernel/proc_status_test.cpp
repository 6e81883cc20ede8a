// SPDX-License-Identifier: Apache-2.0
#include "kernel/proc_status.hpp"

#include <gtest/gtest.h>

namespace kcg {
namespace {

TEST(ProcStatus, RealUid) {
  EXPECT_EQ(parse_real_uid("Name:\tx\nUid:\t0\t1\t2\t3\nGid:\t9\t9\t9\t9\n"), 0U);
  EXPECT_EQ(parse_real_uid("Uid:\t4294967295\t0\t0\t0\n"), 4294967295U);
  // The kernel escapes newlines in Name, so a name cannot pose as the line.
  EXPECT_EQ(parse_real_uid("Name:\tUid:\t7\nUid:\t1000\t0\t0\t0\n"), 1000U);
}

TEST(ProcStatus, Refuses) {
  for (const char* bad : {"", "Name:\tx\n", "Uid:\n", "Uid:\t-1\t0\n", "Uid:\t4294967296\n",
                          "Uid:\tx\n", " Uid:\t0\n", "uid:\t0\n"})
    EXPECT_FALSE(parse_real_uid(bad)) << bad;
}

}  // namespace
}  // namespace kcg
