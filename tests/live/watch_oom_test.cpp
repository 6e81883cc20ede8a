// SPDX-License-Identifier: Apache-2.0
//
// A real process that the kernel kills for lack of memory is heard of through v1's eventfd.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "cgroup/host.hpp"
#include "cgroup/kernel_tree.hpp"
#include "daemon/watch/oom.hpp"
#include "live/watch_rig.hpp"

namespace kcg::test {

namespace {

constexpr std::size_t kHalfGiB = std::size_t{512} << 20;

class Oom : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    Config::Cgroup config;
    config.hierarchy = HierarchyChoice::v1;
    host_ = discover_host(config).value();
    tree_ = KernelTree::open(host_).value();
    group_ = {"memory", CgroupPath::parse(fmt::format("/kcg-oom-{}", ::getpid())).value()};
    make();
  }
  void TearDown() override {
    const bool removed = !tree_ || tree_->remove(group_);
    EXPECT_TRUE(removed);
  }
  void make() {
    ASSERT_TRUE(tree_->make(group_));
    ASSERT_TRUE(tree_->write(group_, "memory.limit_in_bytes", "16777216"));
  }
  [[nodiscard]] std::unique_ptr<OomWatch> watch(bool may_write) {
    auto watch = OomWatch::create(rig_.loop(), host_, may_write, rig_.sink()).value();
    watch->watch("S", {group_});
    return watch;
  }
  void outgrow() {
    Helper hungry([] {
      void* memory =
          ::mmap(nullptr, kHalfGiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      std::memset(memory, 1, kHalfGiB);
    });
    ASSERT_TRUE(tree_->write(group_, "cgroup.procs", std::to_string(hungry.pid())));
    EXPECT_THROW(hungry.go(), std::exception) << "nobody killed it";
  }

  Rig rig_;
  Host host_;
  std::unique_ptr<KernelTree> tree_;
  GroupRef group_;
};

TEST_F(Oom, AKillIsHeard) {
  const auto watching = watch(true);
  EXPECT_EQ(watching->size(), 1U);
  outgrow();
  EXPECT_TRUE(rig_.hears(HintKind::group, "S"));
  EXPECT_NE(tree_->read(group_, "memory.oom_control").value().find("oom_kill 1"),
            std::string::npos);
}

TEST_F(Oom, AGroupThatWasMadeAnewIsHeardAnew) {
  const auto watching = watch(true);
  ASSERT_TRUE(tree_->remove(group_));
  make();
  EXPECT_TRUE(rig_.hears(HintKind::group, "S")) << "the kernel tells listeners of the end";
  watching->watch("S", {group_});
  rig_.forget();
  outgrow();
  EXPECT_TRUE(rig_.hears(HintKind::group, "S"));
}

TEST_F(Oom, NothingIsWrittenWhereNothingMayBe) { EXPECT_EQ(watch(false)->size(), 0U); }

TEST_F(Oom, WhatIsNotWatchedAnyMoreIsNotKept) {
  const auto watching = watch(true);
  watching->unwatch("S");
  EXPECT_EQ(watching->size(), 0U);
}

}  // namespace
}  // namespace kcg::test
