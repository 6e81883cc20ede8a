// SPDX-License-Identifier: Apache-2.0
#include "model/errnos.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace kcg {
namespace {

TEST(Errnos, OnlyAbsenceIsAbsence) {
  for (const int code : {ENOENT, ENOTDIR}) EXPECT_TRUE(errnos::no_file(code)) << code;
  for (const int code : {ENOENT, ESRCH, ENODEV}) EXPECT_TRUE(errnos::no_task(code)) << code;
  for (const int code : {ENOENT, ENOTDIR, ENODEV, EOPNOTSUPP})
    EXPECT_TRUE(errnos::no_group_file(code)) << code;
  for (const int code : {EACCES, EMFILE, ENFILE, ENOMEM, ELOOP, EIO, EISDIR, EINTR, 0}) {
    EXPECT_FALSE(errnos::no_file(code)) << code;
    EXPECT_FALSE(errnos::no_task(code)) << code;
    EXPECT_FALSE(errnos::no_group_file(code)) << code;
  }
}

}  // namespace
}  // namespace kcg
