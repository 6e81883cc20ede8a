// SPDX-License-Identifier: Apache-2.0
#include "kernel/mappings.hpp"

#include <gtest/gtest.h>

#include "base/units.hpp"

namespace kcg {
namespace {

constexpr Mapping mapping(std::uint64_t bytes, bool writable, bool shared, bool file, bool plain) {
  return {bytes, writable, shared, file, plain, std::nullopt};
}

TEST(Mappings, OfOneLineEach) {
  const struct {
    const char *name, *text;
    Mapping value;
  } rows[] = {
      {"a private guest's RAM", "7f9f9fe00000-7f9fafe00000 rw-p 00000000 00:00 0 \n",
       mapping(256 * kMib, true, false, false, true)},
      {"with a name of its own",
       "7f9f9fe00000-7f9fafe00000 rw-p 00000000 00:00 0                 [anon:ram]\n",
       mapping(256 * kMib, true, false, false, true)},
      {"a memfd",
       "7f3ba7fff000-7f3bb7fff000 rw-s 00000000 00:01 575              "
       "/memfd:memory-backend-memfd (deleted)\n",
       mapping(256 * kMib, true, true, true, false)},
      {"private of hugetlbfs",
       "7f0000000000-7f0000200000 rw-p 00000000 00:0f 12 /anon_hugepage (deleted)\n",
       mapping(2 * kMib, true, false, true, false)},
      {"the heap", "558257d20000-558257e20000 rw-p 00000000 00:00 0       [heap]\n",
       mapping(kMib, true, false, false, false)},
      {"a program's text",
       "558238419000-558238519000 r-xp 00407000 fe:00 10977350 /usr/bin/qemu-system-x86_64\n",
       mapping(kMib, false, false, true, false)},
      {"at the end of all addresses",
       "ffffffffff600000-ffffffffff700000 --xp 00000000 00:00 0 [vsyscall]\n",
       mapping(kMib, false, false, false, false)},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto found = parse_mappings(row.text);
    ASSERT_TRUE(found) << found.error().text;
    ASSERT_EQ(found->size(), 1U);
    EXPECT_EQ(found->front(), row.value);
  }
}

TEST(Mappings, SmapsTellsWhatIsResident) {
  const auto found = parse_mappings(
      "7f9f9fe00000-7f9fafe00000 rw-p 00000000 00:00 0 \n"
      "Size:             262144 kB\nKernelPageSize:        4 kB\nRss:               65536 kB\n"
      "Pss:               65536 kB\nTHPeligible:           1\n"
      "VmFlags: rd wr mr mw me dc ac hg mg \n"
      "7f9fafe00000-7f9fafe01000 ---p 00000000 00:00 0 \n"
      "Size:                  4 kB\nRss:                   0 kB\nVmFlags: mr mw me \n");
  ASSERT_TRUE(found) << found.error().text;
  ASSERT_EQ(found->size(), 2U);
  EXPECT_EQ(found->at(0).resident, 64 * kMib);
  EXPECT_EQ(found->at(1).resident, 0U);
}

TEST(Mappings, RefusesWhatTheKernelDoesNotWrite) {
  for (const char* bad :
       {"7f9f9fe00000-7f9fafe00000 rw-p 00000000 00:00 0", "Rss: 12 kB\n",
        "7f9f9fe00000 rw-p 00000000 00:00 0 \n", "7f9fafe00000-7f9f9fe00000 rw-p 0 00:00 0 \n",
        "1000-2000 rw-p 0 00:00 x \n", "1000-2000 rw 0 00:00 0 \n",
        "1000-2000 rw-p 0 00:00 0 \nRss: 12\n", "1000-2000 rw-p 0 00:00 0 \nRss: 12 MB\n",
        "1000-2000 rw-p 0 00:00 0 \n12\n"})
    EXPECT_FALSE(parse_mappings(bad)) << bad;
  EXPECT_EQ(parse_mappings("").value(), std::vector<Mapping>{});
}

}  // namespace
}  // namespace kcg
