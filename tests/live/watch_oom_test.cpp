// SPDX-License-Identifier: Apache-2.0
//
// A real process that the kernel kills for lack of memory is heard of through v1's eventfd.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "cgroup/host.hpp"
#include "cgroup/kernel_tree.hpp"
#include "daemon/watch/losses.hpp"
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
    auto watch =
        std::make_unique<OomWatch>(rig_.loop(), host_, may_write, rig_.sink(), rig_.tell());
    watch->watch(id_of("S"), {group_});
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
  /// Everything that is ready, once.
  void serve_all() {
    bool served = false;
    const auto source = rig_.loop().soon([&] { served = true; });
    ASSERT_TRUE(source);
    EXPECT_TRUE(rig_.until([&] { return served; }));
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
  serve_all();
  rig_.forget();
  serve_all();
  EXPECT_EQ(rig_.count(HintKind::group, "S"), 0) << "what was told is over";
  EXPECT_NE(tree_->read(group_, "memory.oom_control").value().find("oom_kill 1"),
            std::string::npos);
}

TEST_F(Oom, AGroupThatWasMadeAnewIsHeardAnew) {
  const auto watching = watch(true);
  ASSERT_TRUE(tree_->remove(group_));
  make();
  EXPECT_TRUE(rig_.hears(HintKind::group, "S")) << "the kernel tells listeners of the end";
  watching->watch(id_of("S"), {group_});
  rig_.forget();
  outgrow();
  EXPECT_TRUE(rig_.hears(HintKind::group, "S"));
}

TEST_F(Oom, NothingIsWrittenWhereNothingMayBe) { EXPECT_EQ(watch(false)->size(), 0U); }

TEST_F(Oom, AModeThatChangesIsFollowed) {
  const auto watching = watch(false);
  watching->set_may_write(true);
  watching->watch(id_of("S"), {group_});
  outgrow();
  EXPECT_TRUE(rig_.hears(HintKind::group, "S"));
  watching->set_may_write(false);
  EXPECT_EQ(watching->size(), 0U) << "what was written for is dropped";
  watching->watch(id_of("S"), {group_});
  EXPECT_EQ(watching->size(), 0U);
}

TEST_F(Oom, WhatIsNotWatchedAnyMoreIsNotKept) {
  const auto watching = watch(true);
  watching->unwatch(id_of("S"));
  EXPECT_EQ(watching->size(), 0U);
}

/// Where this machine has no memory controller on v2: its file in a directory like any other, since
/// inotify does not care who writes.
class OomOnV2 : public ::testing::Test {
 protected:
  void SetUp() override {
    Hierarchy unified;
    unified.unified = true;
    unified.mount_point = ground_.path();
    host_.hierarchies = {unified};
    for (const char* pod : {"pod", "other", "third"}) {
      make_directories(ground_ / pod);
      kills(pod, 0, 0);
    }
  }
  [[nodiscard]] static GroupRef group(const std::string& name) {
    return {"", CgroupPath::parse("/" + name).value()};
  }
  void kills(const std::string& pod, int high, int count) {
    write_file(ground_ / (pod + "/memory.events"),
               fmt::format("low 0\nhigh {}\nmax 0\noom {}\noom_kill {}\n", high, count, count));
  }

  Playground ground_;
  Host host_;
  Rig rig_;
};

TEST_F(OomOnV2, AKillWhoseEventWasLostIsHeard) {
  OomWatch watch(rig_.loop(), host_, false, rig_.sink(), rig_.tell());
  watch.watch(id_of("S"), {group("pod")});
  watch.watch(id_of("busy"), {group("other"), group("third")});
  // More events than the kernel keeps; it folds equal neighbours, so they alternate.
  const Fd other(::open((ground_ / "other/memory.events").c_str(), O_WRONLY | O_CLOEXEC));
  const Fd third(::open((ground_ / "third/memory.events").c_str(), O_WRONLY | O_CLOEXEC));
  for (int i = 0; i < 20'000; ++i)
    ASSERT_EQ(::pwrite(i % 2 == 0 ? other.get() : third.get(), "low", 3, 0), 3);
  kills("pod", 0, 1);
  EXPECT_TRUE(rig_.hears(HintKind::group, "S"));
  EXPECT_EQ(rig_.count(HintKind::group, "busy"), 0);
}

TEST_F(OomOnV2, OnlyAKillIsNews) {
  OomWatch watch(rig_.loop(), host_, false, rig_.sink(), rig_.tell());
  watch.watch(id_of("S"), {group("pod"), group("missing")});
  watch.watch(id_of("fence"), {group("other")});
  EXPECT_EQ(watch.size(), 2U);
  kills("pod", 7, 0);
  kills("other", 0, 1);
  EXPECT_TRUE(rig_.hears(HintKind::group, "fence"));
  EXPECT_EQ(rig_.count(HintKind::group, "S"), 0) << "a sandbox at its limit is no news";
  kills("pod", 7, 1);
  EXPECT_TRUE(rig_.hears(HintKind::group, "S"));
  EXPECT_EQ(rig_.problem(), "") << "a group that does not exist is no trouble";
}

TEST_F(OomOnV2, APodMayHaveSeveralSandboxes) {
  OomWatch watch(rig_.loop(), host_, false, rig_.sink(), rig_.tell());
  watch.watch(id_of("S1"), {group("pod")});
  watch.watch(id_of("S2"), {group("pod"), group("other")});
  kills("pod", 0, 1);
  EXPECT_TRUE(rig_.hears(HintKind::group, "S1"));
  EXPECT_TRUE(rig_.hears(HintKind::group, "S2"));
  watch.unwatch(id_of("S1"));
  rig_.forget();
  kills("pod", 0, 2);
  EXPECT_TRUE(rig_.hears(HintKind::group, "S2"));
  EXPECT_EQ(rig_.count(HintKind::group, "S1"), 0);
}

TEST(Losses, AreToldWhenTheyGoOnAndWhenTheyCease) {
  Rig rig;
  Losses losses(rig.loop(), rig.tell(), std::chrono::milliseconds(10));
  for (int i = 1; i < Losses::kMost; ++i) losses.one();
  EXPECT_EQ(rig.problem(), "") << "now and then";
  for (int i = 0; i < 10; ++i) losses.one();
  EXPECT_NE(rig.problem(), "");
  EXPECT_TRUE(rig.until([&] { return rig.problem().empty(); }));
  EXPECT_EQ(rig.told().size(), 2U);
}

}  // namespace
}  // namespace kcg::test
