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

TEST(ProcStatus, BlockedSignals) {
  EXPECT_EQ(parse_blocked_signals("Name:\tx\nSigBlk:\tfffffffe7ffbf837\n"), 0xfffffffe7ffbf837U);
  EXPECT_EQ(parse_blocked_signals("SigBlk:\t0000000000000000\nSigIgn:\t1\n"), 0U);
  for (const char* bad : {"", "SigIgn:\t1\n", "SigBlk:\n", "SigBlk:\t0x1\n", "SigBlk:\t-1\n",
                          "SigBlk:\t10000000000000000\n", "SigBlk:\t1 2\n", " SigBlk:\t1\n"})
    EXPECT_FALSE(parse_blocked_signals(bad)) << bad;
}

TEST(ProcStatus, ChargedMemory) {
  EXPECT_EQ(parse_charged_memory("RssAnon:\t    1024 kB\nRssFile:\t 4096 kB\nRssShmem:\t 8 kB\n"),
            (1024U + 8U) * 1024U);
  EXPECT_EQ(parse_charged_memory("Name:\tkthreadd\n"), 0U);
  for (const char* bad : {"RssAnon:\t1024\n", "RssAnon:\t-1 kB\n", "RssShmem:\t1 MB\n",
                          "RssAnon:\t18446744073709551615 kB\n"})
    EXPECT_FALSE(parse_charged_memory(bad)) << bad;
}

TEST(ProcStatus, HugeMemory) {
  EXPECT_EQ(parse_huge_memory("RssShmem:\t 8 kB\nHugetlbPages:\t    2048 kB\n"), 2048U * 1024U);
  EXPECT_EQ(parse_huge_memory("Name:\tkthreadd\n"), 0U);
  for (const char* bad : {"HugetlbPages:\t1\n", "HugetlbPages:\t-1 kB\n"})
    EXPECT_FALSE(parse_huge_memory(bad)) << bad;
}

TEST(ProcStatus, PidNamespaces) {
  EXPECT_EQ(pid_namespaces("Pid:\t7\nNSpid:\t7\nNSpgid:\t7\n"), 1U);
  EXPECT_EQ(pid_namespaces("Pid:\t7\nNSpid:\t70\t7\n"), 2U);
  EXPECT_EQ(pid_namespaces("Pid:\t7\n"), 0U) << "a kernel that does not tell";
}

TEST(ProcStatus, Refuses) {
  for (const char* bad : {"", "Name:\tx\n", "Uid:\n", "Uid:\t-1\t0\n", "Uid:\t4294967296\n",
                          "Uid:\tx\n", " Uid:\t0\n", "uid:\t0\n"})
    EXPECT_FALSE(parse_real_uid(bad)) << bad;
}

}  // namespace
}  // namespace kcg
