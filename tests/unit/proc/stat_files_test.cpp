// SPDX-License-Identifier: Apache-2.0
#include "proc/stat_files.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>

#include "proc_fixture.hpp"

namespace kcg::test {

namespace {

class StatFilesTest : public ::testing::Test {
 protected:
  [[nodiscard]] Result<ProcStat> read(Pid pid) {
    return files_.read(pid, pid, proc_, fmt::format("{}/task/{}/stat", pid, pid));
  }
  ProcFixture fixture_;
  Dir proc_ = Dir::open(fixture_.proc()).value();
  StatFiles files_;
};

TEST_F(StatFilesTest, TellWhatTheKernelSaysNow) {
  fixture_.stat(30, {.comm = "before", .start = 99});
  EXPECT_EQ(read(30).value().comm, "before");
  fixture_.stat(30, {.comm = "after", .start = 99});
  EXPECT_EQ(read(30).value().comm, "after");
  EXPECT_EQ(files_.size(), 1U);
}

TEST_F(StatFilesTest, OfWhoHasEndedTellNothingAndAreClosed) {
  proc_ = Dir::open("/proc").value();
  const Pid child = ::fork();
  if (child == 0) {
    (void)::pause();
    ::_exit(0);
  }
  EXPECT_EQ(read(child).value().ppid, ::getpid());
  EXPECT_EQ(files_.size(), 1U);
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(read(child).error().code, ESRCH);
  EXPECT_EQ(files_.size(), 0U);
}

TEST_F(StatFilesTest, OfWhomNobodyHasAskedForLongestIsClosed) {
  const auto most = static_cast<Pid>(StatFiles::kMost);
  for (Pid pid = 100; pid <= 100 + most; ++pid) fixture_.stat(pid, {.start = 7});
  for (Pid pid = 100; pid < 100 + most; ++pid) ASSERT_TRUE(read(pid));
  ASSERT_TRUE(read(100));  // so 101 is the one
  ASSERT_TRUE(read(100 + most));
  EXPECT_EQ(files_.size(), StatFiles::kMost);
  std::filesystem::remove_all(fixture_.proc());
  EXPECT_TRUE(read(100));
  EXPECT_TRUE(read(100 + most));
  EXPECT_EQ(read(101).error().code, ESRCH);
}

/// What is kept is no reason to fail.
TEST_F(StatFilesTest, GiveTheirDescriptorsBackWhereNoneIsLeft) {
  for (const Pid pid : {30, 31, 32}) fixture_.stat(pid, {.start = 7});
  ASSERT_TRUE(read(30));
  ASSERT_TRUE(read(31));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = ::dup(0);  // the first free one
  ASSERT_GE(next, 0);
  ::close(next);
  const rlimit none{static_cast<rlim_t>(next), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto third = read(32);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(third) << third.error().text;
  EXPECT_EQ(files_.size(), 1U);
}

}  // namespace

}  // namespace kcg::test
