// SPDX-License-Identifier: Apache-2.0
#include "base/amounts.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "base/units.hpp"

namespace kcg {
namespace {

TEST(Amounts, OfMemoryAreInOneUnit) {
  EXPECT_EQ(bytes_text(0), "0 bytes");
  EXPECT_EQ(bytes_text(kMib - 1), "1048575 bytes");
  EXPECT_EQ(bytes_text(kMib), "1 MiB");
  EXPECT_EQ(bytes_text(4096 * kMib), "4096 MiB");
  EXPECT_EQ(bytes_text(kMib + kMib / 2), "1.5 MiB");
  EXPECT_EQ(bytes_text(std::numeric_limits<std::uint64_t>::max()), "17592186044416.0 MiB");
}

TEST(Amounts, OfAFormulaAreReplacedWhereverTheyStand) {
  EXPECT_EQ(formula_text("B + S + O = 2147483648 + (536870912 (total)) + 367001600, limited"),
            "B + S + O = 2048 MiB + (512 MiB (total)) + 350 MiB, limited");
  EXPECT_EQ(formula_text("100000 us per 4096"), "100000 us per 4096");
  EXPECT_EQ(formula_text("/kubepods/pod536870912 allows 1048576"),
            "/kubepods/pod536870912 allows 1 MiB");
  EXPECT_EQ(formula_text(""), "");
}

}  // namespace
}  // namespace kcg
