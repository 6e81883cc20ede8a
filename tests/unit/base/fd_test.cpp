// SPDX-License-Identifier: Apache-2.0
#include "base/fd.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <utility>

namespace kcg {
namespace {

int some_fd() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }
bool is_open(int fd) { return ::fcntl(fd, F_GETFD) != -1; }

TEST(Fd, ClosesWhatItOwns) {
  const int raw = some_fd();
  {
    const Fd fd(raw);
    EXPECT_TRUE(fd.valid());
    EXPECT_TRUE(is_open(raw));
  }
  EXPECT_FALSE(is_open(raw));
  EXPECT_FALSE(Fd());
  EXPECT_EQ(Fd().get(), -1);
}

TEST(Fd, MovesOwnership) {
  const int raw = some_fd();
  Fd from(raw);
  Fd to(std::move(from));
  EXPECT_EQ(to.get(), raw);
  EXPECT_TRUE(is_open(raw));
}

TEST(Fd, MoveAssignmentClosesTheOldOne) {
  const int first = some_fd(), second = some_fd();
  Fd fd(first);
  fd = Fd(second);
  EXPECT_FALSE(is_open(first));
  EXPECT_EQ(fd.get(), second);
  auto& same = fd;
  fd = std::move(same);
  EXPECT_EQ(fd.get(), second) << "moved onto itself";
  EXPECT_TRUE(is_open(second));
}

TEST(Fd, ReleasesAndResets) {
  const int raw = some_fd();
  Fd fd(raw);
  EXPECT_EQ(fd.release(), raw);
  EXPECT_FALSE(fd.valid());
  EXPECT_TRUE(is_open(raw));
  fd.reset(raw);
  fd.reset();
  EXPECT_FALSE(is_open(raw));
}

}  // namespace
}  // namespace kcg
