// SPDX-License-Identifier: Apache-2.0
#include "proc/vm_names.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "proc_fixture.hpp"

namespace kcg::test {

namespace {

using Names = std::vector<std::string>;

/// Resource: no descriptor beyond those that are open can be had.
class NoDescriptors final {
 public:
  NoDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    auto none = before_;
    none.rlim_cur = 0;
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
};

class VmNamesTest : public ::testing::Test {
 protected:
  VmNamesTest() { std::filesystem::create_directories(fixture_.kvm()); }

  [[nodiscard]] std::string path(const std::string& name) const {
    return fixture_.kvm() + "/" + name;
  }
  void make(const std::string& name) const { std::filesystem::create_directory(path(name)); }
  [[nodiscard]] Dir kvm() const { return Dir::open(fixture_.kvm()).value(); }
  void refresh() { ASSERT_TRUE(names_.refresh(kvm())); }
  [[nodiscard]] Names all() { return names_.unclaimed(100); }

  ProcFixture fixture_;
  VmNames names_;
};

TEST_F(VmNamesTest, AreListedOnceAndHeardOfThen) {
  make("30-11");
  refresh();
  EXPECT_EQ(all(), (Names{"30-11"}));
  make("31-12");
  refresh();
  EXPECT_EQ(names_.made_by(31), "31-12");
  std::filesystem::remove(path("30-11"));
  refresh();
  EXPECT_EQ(all(), (Names{"31-12"}));
  EXPECT_EQ(names_.listed(), 1U);
}

TEST_F(VmNamesTest, AMakerIsTheWholeNumber) {
  make("301-11");
  refresh();
  EXPECT_EQ(names_.made_by(30), std::nullopt);
  EXPECT_EQ(names_.made_by(301), "301-11");
}

TEST_F(VmNamesTest, OtherThingsAreNoVms) {
  refresh();
  make("stats");
  make("x-1");
  std::ofstream(path("halt_exits")) << "0";
  refresh();
  EXPECT_EQ(all(), Names{});
  EXPECT_EQ(names_.listed(), 1U);
}

TEST_F(VmNamesTest, OneThatIsClaimedIsNobodyElses) {
  make("30-11");
  make("31-12");
  refresh();
  names_.claim("30-11");
  EXPECT_EQ(all(), (Names{"31-12"}));
  names_.release("30-11");
  EXPECT_EQ(all(), (Names{"30-11", "31-12"}));
}

TEST_F(VmNamesTest, AnotherOneOfTheSameNameIsNobodys) {
  make("30-11");
  refresh();
  names_.claim("30-11");
  std::filesystem::remove(path("30-11"));
  make("30-11");
  refresh();
  EXPECT_EQ(all(), (Names{"30-11"}));
}

TEST_F(VmNamesTest, WhoEndsIsReleasedWithoutHarm) {
  make("30-11");
  refresh();
  names_.claim("30-11");
  std::filesystem::remove(path("30-11"));
  refresh();
  names_.release("30-11");
  EXPECT_EQ(all(), Names{});
}

TEST_F(VmNamesTest, SomeAreGivenAtATimeAndAllInTheEnd) {
  for (const auto* name : {"30-1", "31-1", "32-1"}) make(name);
  refresh();
  EXPECT_EQ(names_.unclaimed(2), (Names{"30-1", "31-1"}));
  EXPECT_EQ(names_.unclaimed(2), (Names{"32-1", "30-1"}));
}

TEST_F(VmNamesTest, AnotherDirectoryIsListed) {
  make("30-11");
  refresh();
  std::filesystem::rename(fixture_.kvm(), fixture_.kvm() + ".old");
  std::filesystem::create_directory(fixture_.kvm());
  make("31-12");
  refresh();
  EXPECT_EQ(all(), (Names{"31-12"}));
  EXPECT_EQ(names_.listed(), 2U);
}

/// More than the kernel keeps for who does not read.
TEST_F(VmNamesTest, WhatWasLostIsListed) {
  std::size_t kept = 0;
  std::ifstream("/proc/sys/fs/inotify/max_queued_events") >> kept;
  ASSERT_GT(kept, 0U);
  make("30-11");
  refresh();
  names_.claim("30-11");
  for (std::size_t i = 0; i <= kept / 2; ++i) {
    make("40-" + std::to_string(i % 2));
    std::filesystem::remove(path("40-" + std::to_string(i % 2)));
  }
  make("31-12");
  refresh();
  EXPECT_EQ(all(), (Names{"31-12"})) << "what was claimed stays so";
  EXPECT_EQ(names_.listed(), 2U);
  make("32-13");
  refresh();
  EXPECT_EQ(names_.made_by(32), "32-13");
  EXPECT_EQ(names_.listed(), 2U) << "heard of again";
}

TEST_F(VmNamesTest, WithoutADescriptorTheyAreListedEachTime) {
  make("30-11");
  const auto directory = kvm();
  {
    const NoDescriptors none;
    ASSERT_TRUE(names_.refresh(directory));
    make("31-12");
    ASSERT_TRUE(names_.refresh(directory));
  }
  EXPECT_EQ(all(), (Names{"30-11", "31-12"}));
  EXPECT_EQ(names_.listed(), 2U);
  refresh();
  refresh();
  EXPECT_EQ(names_.listed(), 3U) << "there is one again";
}

}  // namespace

}  // namespace kcg::test
