// SPDX-License-Identifier: Apache-2.0
#include "measure/overhead.hpp"

#include <gtest/gtest.h>

#include "base/units.hpp"

namespace kcg {
namespace {

/// As Linux 6.12 writes it of a sandbox with shared RAM, cut.
constexpr const char* kV2 =
    "anon 41091072\nfile 136314880\nkernel 5033164\nkernel_stack 376832\npagetables 1191936\n"
    "sec_pagetables 335872\npercpu 4608\nsock 0\nvmalloc 0\nshmem 134217728\nzswap 0\n"
    "file_mapped 134479872\nfile_dirty 0\nfile_writeback 0\nswapcached 0\nanon_thp 0\nfile_thp 0\n"
    "shmem_thp 0\ninactive_anon 175296512\nactive_anon 12288\ninactive_file 1048576\n"
    "active_file 1048576\nunevictable 0\nslab_reclaimable 611840\nslab_unreclaimable 1293168\n";

/// As Linux 6.18 writes it, cut: the group's own part is zero, all is in the groups below.
constexpr const char* kV1 =
    "cache 0\nrss 0\nrss_huge 0\nshmem 0\nmapped_file 0\ninactive_anon 0\nactive_anon 0\n"
    "inactive_file 0\nactive_file 0\nunevictable 0\nhierarchical_memory_limit 903872512\n"
    "total_cache 136314880\ntotal_rss 41091072\ntotal_rss_huge 0\ntotal_shmem 134217728\n"
    "total_mapped_file 134479872\ntotal_inactive_anon 175296512\ntotal_active_anon 12288\n"
    "total_inactive_file 1048576\ntotal_active_file 1048576\ntotal_unevictable 0\n";

constexpr const char* kUsage = "182439116\n";
constexpr std::uint64_t kUsed = 182439116, kFiles = 2 * kMib, kShared = 128 * kMib,
                        kAnonymous = 41091072;

const GuestLook kSharedGuest{GuestMemory::shared, std::nullopt, ""};

GuestLook private_guest(std::optional<std::uint64_t> resident) {
  return {GuestMemory::private_memory, resident, ""};
}

TEST(Counters, AreThoseOfTheWholeGroup) {
  const MemoryCounters wanted{kUsed, kFiles, kShared, kAnonymous, std::nullopt};
  EXPECT_EQ(memory_counters(true, kUsage, kV2), wanted);
  EXPECT_EQ(memory_counters(false, kUsage, kV1), wanted);
}

TEST(Counters, WhatIsNotThereIsAbsent) {
  EXPECT_EQ(memory_counters(true, "", ""), MemoryCounters{});
  EXPECT_EQ(memory_counters(true, "max", "inactive_file 1\n"), MemoryCounters{});
  EXPECT_EQ(memory_counters(false, "1", "shmem 1\nrss 1\ninactive_file 1\nactive_file 1\n"),
            (MemoryCounters{1, {}, {}, {}, {}}));
  EXPECT_EQ(memory_counters(true, "1", "hugetlb 4096\n"), (MemoryCounters{1, {}, {}, {}, 4096}));
}

TEST(OverheadUsed, OfEachKindOfRam) {
  const struct {
    const char* name;
    MemoryCounters counters;
    GuestLook guest;
    std::uint64_t of_guest, overhead;
  } rows[] = {
      {"shared", memory_counters(true, kUsage, kV2), kSharedGuest, kShared,
       kUsed - kShared - kFiles},
      {"shared, v1", memory_counters(false, kUsage, kV1), kSharedGuest, kShared,
       kUsed - kShared - kFiles},
      {"private", {100, 10, 0, 80, {}}, private_guest(60), 60, 30},
      {"private, untouched", {100, 10, 0, 80, {}}, private_guest(0), 0, 90},
      {"huge pages", {100, 10, 5, 80, {}}, {GuestMemory::hugetlb, {}, ""}, 0, 90},
      {"huge pages that are charged", {100, 10, 5, 20, 60}, {GuestMemory::hugetlb, {}, ""}, 60, 30},
      {"nothing is left", {100, 40, 60, 0, {}}, kSharedGuest, 60, 0},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto use = memory_use(row.counters, row.guest);
    EXPECT_EQ(use.guest, row.of_guest);
    EXPECT_EQ(use.overhead, row.overhead);
    EXPECT_EQ(use.unknown, "");
    EXPECT_EQ(use.guest_memory, row.guest.memory);
  }
}

TEST(OverheadUsed, IsNotKnownWhereAPartIsMissing) {
  const struct {
    const char* name;
    MemoryCounters counters;
    GuestLook guest;
    const char* why;
  } rows[] = {
      {"the kind of RAM",
       {100, 10, 50, 30, {}},
       {GuestMemory::unknown, {}, "no RAM yet"},
       "no RAM yet"},
      {"private, not looked at", {100, 10, 0, 80, {}}, private_guest({}), "looked at"},
      {"private, charged elsewhere", {100, 10, 0, 50, {}}, private_guest(60), "another group"},
      {"usage", {{}, 10, 50, 30, {}}, kSharedGuest, "cannot be read"},
      {"files", {100, {}, 50, 30, {}}, kSharedGuest, "cannot be read"},
      {"shared memory", {100, 10, {}, 30, {}}, kSharedGuest, "cannot be read"},
      {"anonymous memory", {100, 10, 50, {}, {}}, private_guest(1), "cannot be read"},
      {"more guest than usage", {100, 10, 101, 0, {}}, kSharedGuest, "less than"},
      {"more cache than is left", {100, 50, 51, 0, {}}, kSharedGuest, "less than"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto use = memory_use(row.counters, row.guest);
    EXPECT_EQ(use.overhead, std::nullopt);
    EXPECT_NE(use.unknown.find(row.why), std::string::npos) << use.unknown;
  }
}

}  // namespace
}  // namespace kcg
