// SPDX-License-Identifier: Apache-2.0
#include "measure/guest.hpp"

#include <gtest/gtest.h>

#include "base/units.hpp"

namespace kcg {
namespace {

constexpr std::uint64_t kRam = 256 * kMib;

constexpr Mapping plain(std::uint64_t bytes, std::optional<std::uint64_t> resident = {}) {
  return {bytes, true, false, false, true, resident};
}
constexpr Mapping heap(std::uint64_t bytes) { return {bytes, true, false, false, false, kMib}; }
constexpr Mapping shared(std::uint64_t bytes) { return {bytes, true, true, true, false, {}}; }
constexpr Mapping of_file(std::uint64_t bytes) { return {bytes, true, false, true, false, {}}; }
constexpr Mapping text(std::uint64_t bytes) { return {bytes, false, false, true, false, {}}; }

const struct {
  const char* name;
  std::vector<Mapping> mappings;
  std::optional<std::uint64_t> ram;
  std::uint64_t huge;
  GuestMemory memory;
  std::optional<std::uint64_t> resident;
} kTold[] = {
    {"shared with virtiofsd",
     {text(8 * kMib), heap(kMib), shared(kRam), plain(8 * kMib)},
     kRam,
     0,
     GuestMemory::shared,
     {}},
    {"shared, and nobody knows its size",
     {heap(kMib), shared(kRam)},
     {},
     0,
     GuestMemory::shared,
     {}},
    {"huge pages",
     {heap(kMib), shared(kRam), plain(8 * kMib)},
     kRam,
     2 * kMib,
     GuestMemory::hugetlb,
     {}},
    {"private huge pages", {of_file(kRam), plain(8 * kMib)}, kRam, kRam, GuestMemory::hugetlb, {}},
    {"private",
     {plain(8 * kMib, kMib), plain(kRam, 40 * kMib), heap(kMib)},
     kRam,
     0,
     GuestMemory::private_memory,
     40 * kMib},
    {"private, of maps alone",
     {plain(kRam), plain(8 * kMib)},
     kRam,
     0,
     GuestMemory::private_memory,
     {}},
    {"private, with a module more",
     {plain(kRam, kMib), plain(512 * kMib, 3 * kMib)},
     768 * kMib,
     0,
     GuestMemory::private_memory,
     4 * kMib},
    {"private, in two parts",
     {plain(192 * kMib, kMib), plain(64 * kMib, kMib)},
     kRam,
     0,
     GuestMemory::private_memory,
     2 * kMib},
};

TEST(GuestRam, IsToldByTheLargestWritableMapping) {
  for (const auto& row : kTold) {
    SCOPED_TRACE(row.name);
    const auto look = guest_in(row.mappings, row.ram, row.huge);
    EXPECT_EQ(look.memory, row.memory) << look.unknown;
    EXPECT_EQ(look.resident, row.resident);
    EXPECT_EQ(look.unknown, "");
  }
}

TEST(GuestRam, IsNeverGuessed) {
  const struct {
    const char* name;
    std::vector<Mapping> mappings;
    std::optional<std::uint64_t> ram;
    const char* why;
  } rows[] = {
      {"no mapping at all", {}, kRam, "no RAM yet"},
      {"before the RAM is mapped", {heap(kMib), plain(8 * kMib)}, kRam, "no RAM yet"},
      {"only text is large", {text(kRam), plain(8 * kMib)}, kRam, "no RAM yet"},
      {"private, and nobody knows its size", {plain(kRam, kMib)}, {}, "how much RAM"},
      {"a large mapping beside the RAM",
       {plain(kRam, kMib), plain(300 * kMib, kMib)},
       kRam,
       "exactly the size"},
      {"more was plugged in than is there",
       {plain(kRam, kMib), plain(8 * kMib)},
       2 * kRam,
       "exactly the size"},
      {"merged with its neighbour", {plain(kRam + 4096, kMib)}, kRam, "exactly the size"},
      {"a private mapping of a file", {of_file(kRam)}, kRam, "private mapping of a file"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto look = guest_in(row.mappings, row.ram, 0);
    EXPECT_EQ(look.memory, GuestMemory::unknown);
    EXPECT_EQ(look.resident, std::nullopt);
    EXPECT_NE(look.unknown.find(row.why), std::string::npos) << look.unknown;
  }
}

}  // namespace
}  // namespace kcg
