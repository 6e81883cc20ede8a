// SPDX-License-Identifier: Apache-2.0
#include "base/result.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace kcg {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return fail(EINVAL, "{}: odd", number);
  return number / 2;
}

TEST(Result, CarriesAValueOrAnError) {
  EXPECT_EQ(half(4), 2);
  ASSERT_FALSE(half(3));
  EXPECT_EQ(half(3).error(), (Error{EINVAL, "3: odd"}));
}

TEST(Result, ForwardingKeepsTheCodeAndAddsContext) {
  const Result<int> forwarded = forward(half(3).error(), "halving");
  EXPECT_EQ(forwarded.error(), (Error{EINVAL, "halving: 3: odd"}));
  const Status unchanged = forward(half(3).error());
  EXPECT_EQ(unchanged.error(), (Error{EINVAL, "3: odd"}));
}

TEST(ErrnoText, NamesTheError) {
  EXPECT_EQ(errno_text(ENOSPC), "No space left on device");
  EXPECT_NE(errno_text(99999).find("99999"), std::string::npos);
}

}  // namespace
}  // namespace kcg
