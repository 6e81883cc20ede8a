// SPDX-License-Identifier: Apache-2.0
//
// Writes by others into groups, and groups that run empty, on the machine's own trees.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "cgroup/host.hpp"
#include "cgroup/kernel_tree.hpp"
#include "daemon/watch/groups.hpp"
#include "live/watch_rig.hpp"

namespace kcg::test {

namespace {

/// One hierarchy, one group of our own in it.
class Groups : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    Config::Cgroup config;
    config.hierarchy = GetParam() == std::string("v2") ? HierarchyChoice::v2 : HierarchyChoice::v1;
    auto host = discover_host(config);
    if (!host) GTEST_SKIP() << host.error().text;
    tree_ = KernelTree::open(*host).value();
    hierarchy_ = host->hierarchies.front().name;
    watch_ = std::make_unique<GroupWatch>(rig_.loop(), *host, rig_.sink(), rig_.tell());
    top_ = {hierarchy_, CgroupPath::parse(fmt::format("/kcg-watch-{}", ::getpid())).value()};
    const auto made = tree_->make(top_);
    ASSERT_TRUE(made) << made.error().text;
    make("a");
  }
  void TearDown() override {
    if (!tree_) return;
    for (const auto& name : tree_->children(top_).value_or(std::vector<std::string>{}))
      (void)tree_->remove(group(name));
    EXPECT_TRUE(tree_->remove(top_));
  }
  [[nodiscard]] GroupRef group(const std::string& name) const {
    return {hierarchy_, CgroupPath::parse(fmt::format("{}/{}", top_.path.str(), name)).value()};
  }
  void make(const std::string& name) { ASSERT_TRUE(tree_->make(group(name))); }
  void move(pid_t pid, const GroupRef& to) {
    const auto moved = tree_->write(to, "cgroup.procs", std::to_string(pid));
    ASSERT_TRUE(moved) << moved.error().text;
  }
  void watch(const std::string& id, const std::vector<GroupInterest>& interests) {
    watch_->watch(id_of(id), interests);
    ASSERT_EQ(rig_.problem(), "");
  }

  Rig rig_;
  std::unique_ptr<KernelTree> tree_;
  std::string hierarchy_;
  GroupRef top_;
  std::unique_ptr<GroupWatch> watch_;
};

TEST_P(Groups, TellOfAnotherProcessWrite) {
  Helper helper([this] { (void)tree_->write(group("a"), "cgroup.procs", "0"); });
  watch("s1", {{group("a"), GroupNews::tasks}});
  helper.go();
  EXPECT_TRUE(rig_.hears(HintKind::group, "s1"));
  helper.end();
}

TEST_P(Groups, MayBelongToSeveralSandboxes) {
  watch("s1", {{group("a"), GroupNews::tasks}});
  watch("s2", {{group("a"), GroupNews::tasks}});
  Helper helper([] {});
  move(helper.pid(), group("a"));
  EXPECT_TRUE(rig_.hears(HintKind::group, "s1"));
  EXPECT_TRUE(rig_.hears(HintKind::group, "s2"));
  rig_.forget();
  watch_->unwatch(id_of("s1"));
  move(helper.pid(), group("a"));
  EXPECT_TRUE(rig_.hears(HintKind::group, "s2"));
  EXPECT_EQ(rig_.count(HintKind::group, "s1"), 0);
  helper.end();
}

TEST_P(Groups, AreWatchedAsTheLastCallSaid) {
  make("b");
  watch("s1", {{group("a"), GroupNews::tasks}});
  watch("s1", {{group("b"), GroupNews::tasks}, {group("missing"), GroupNews::tasks}});
  watch("fence", {{group("b"), GroupNews::tasks}});
  EXPECT_EQ(watch_->size(), 1U);
  Helper helper([] {});
  move(helper.pid(), group("a"));
  move(helper.pid(), group("b"));
  EXPECT_TRUE(rig_.hears(HintKind::group, "fence"));
  EXPECT_EQ(rig_.count(HintKind::group, "s1"), 1);
  helper.end();
}

TEST_P(Groups, OfOneSandboxAreAllWatched) {
  make("b");
  watch("s1", {{group("a"), GroupNews::tasks}, {group("b"), GroupNews::tasks}});
  Helper helper([] {});
  for (const auto* name : {"a", "b"}) {
    rig_.forget();
    move(helper.pid(), group(name));
    EXPECT_TRUE(rig_.hears(HintKind::group, "s1")) << name;
  }
  helper.end();
}

/// By one watch of the kernel.
TEST_P(Groups, AreWatchedForSeveralThings) {
  const GroupInterest tasks{group("a"), GroupNews::tasks};
  const GroupInterest child{group("a"), GroupNews::child, group("a/c").path};
  const auto before = kernel_watches();
  watch("s1", {tasks, {group("a"), GroupNews::limits}, child});
  EXPECT_EQ(kernel_watches(), before + 1);
  Helper helper([] {});
  const auto hears_of_tasks = [&] {
    rig_.forget();
    move(helper.pid(), group("a"));
    return rig_.hears(HintKind::group, "s1");
  };
  const auto hears_of_child = [&] {
    rig_.forget();
    make("a/c");
    const bool comes = rig_.hears(HintKind::made_group, "s1");
    rig_.forget();
    EXPECT_TRUE(tree_->remove(group("a/c")));
    return comes && rig_.hears(HintKind::group, "s1");
  };
  const auto hears_of_limits = [&] {
    rig_.forget();
    const std::string file = GetParam() == std::string("v2") ? "pids.max" : "cpu.shares";
    if (!tree_->read(group("a"), file)) return true;  // a tree without controllers limits nothing
    EXPECT_TRUE(tree_->write(group("a"), file, "512"));
    return rig_.hears(HintKind::group, "s1");
  };
  EXPECT_TRUE(hears_of_tasks());
  EXPECT_TRUE(hears_of_limits());
  EXPECT_TRUE(hears_of_child());
  watch("s1", {tasks, child});
  EXPECT_TRUE(hears_of_tasks());
  EXPECT_TRUE(hears_of_child());
  watch("s1", {child});
  EXPECT_TRUE(hears_of_child());
  watch("s1", {tasks});
  EXPECT_TRUE(hears_of_tasks());
  helper.end();
  EXPECT_EQ(kernel_watches(), before + 1);
  watch_->unwatch(id_of("s1"));
  EXPECT_EQ(kernel_watches(), before);
}

/// On v1, which has a controller here: what is heard of is the same on v2.
class GroupLimits : public Groups {
 protected:
  void SetUp() override {
    Groups::SetUp();
    if (!IsSkipped() && !HasFatalFailure()) make("b");
  }
  void limit(const std::string& name, const std::string& shares) {
    const auto written = tree_->write(group(name), "cpu.shares", shares);
    ASSERT_TRUE(written) << written.error().text;
  }
  void wrote(const std::string& name, const std::string& shares) {
    watch_->wrote({{group(name), "cpu.shares", shares}});
  }
  /// What stood before this in the queue has been heard.
  void fence() {
    watch("fence", {{group("b"), GroupNews::child, group("b/c").path}});
    make("b/c");
    EXPECT_TRUE(rig_.hears(HintKind::made_group, "fence"));
    EXPECT_TRUE(tree_->remove(group("b/c")));
  }
};

TEST_P(GroupLimits, ThatWeWriteOurselvesAreNoNews) {
  watch("s1", {{group("a"), GroupNews::limits}});
  limit("a", "512");
  wrote("a", "512");
  fence();
  EXPECT_EQ(rig_.count(HintKind::group, "s1"), 0);
  limit("a", "256");
  EXPECT_TRUE(rig_.hears(HintKind::group, "s1")) << "the next write is somebody else's";
}

/// The kernel makes one event of both.
TEST_P(GroupLimits, ThatSomebodyWritesOverOursAreHeardOf) {
  watch("s1", {{group("a"), GroupNews::limits}});
  limit("a", "512");
  limit("a", "256");
  wrote("a", "512");
  EXPECT_TRUE(rig_.hears(HintKind::group, "s1"));
}

TEST_P(GroupLimits, OfOthersAreHeardBesideOurs) {
  watch("s1", {{group("a"), GroupNews::limits}});
  watch("s2", {{group("b"), GroupNews::limits}});
  limit("b", "256");
  limit("a", "512");
  wrote("a", "512");
  EXPECT_TRUE(rig_.hears(HintKind::group, "s2"));
  EXPECT_EQ(rig_.count(HintKind::group, "s1"), 0);
}

TEST_P(GroupLimits, ThatNobodyListensToAreNotWatched) {
  const auto before = kernel_watches();
  limit("a", "512");
  wrote("a", "512");
  wrote("missing", "512");
  EXPECT_EQ(kernel_watches(), before);
  EXPECT_EQ(rig_.problem(), "");
}

TEST_P(Groups, MadeAnewAreWatchedAnew) {
  watch("s1", {{group("a"), GroupNews::tasks}});
  ASSERT_TRUE(tree_->remove(group("a")));
  make("a");
  watch("s1", {{group("a"), GroupNews::tasks}});
  EXPECT_EQ(watch_->size(), 1U);
  rig_.forget();
  Helper helper([] {});
  move(helper.pid(), group("a"));
  EXPECT_TRUE(rig_.hears(HintKind::group, "s1"));
  helper.end();
}

/// Where their threads go, too: v1 has a file of its own for that.
TEST_P(Groups, TellOfTheirTasksAndOfNothingElse) {
  const bool unified = GetParam() == std::string("v2");
  watch("s1", {{group("a"), GroupNews::tasks}});
  watch("fence", {{top_, GroupNews::tasks}});
  Helper helper([] {});
  const auto file = std::string(unified ? "cgroup.max.depth" : "notify_on_release");
  ASSERT_TRUE(tree_->write(group("a"), file, "0"));
  move(helper.pid(), top_);
  EXPECT_TRUE(rig_.hears(HintKind::group, "fence"));
  EXPECT_EQ(rig_.count(HintKind::group, "s1"), 0) << file;
  const auto tasks = std::string(unified ? "cgroup.procs" : "tasks");
  ASSERT_TRUE(tree_->write(group("a"), tasks, std::to_string(helper.pid())));
  EXPECT_TRUE(rig_.hears(HintKind::group, "s1"));
  helper.end();
}

TEST_P(Groups, TellOfTheirLimitsAndOfNothingElse) {
  const bool unified = GetParam() == std::string("v2");
  watch("s1", {{group("a"), GroupNews::limits}});
  watch("fence", {{top_, GroupNews::tasks}});
  EXPECT_EQ(watch_->size(), 2U);
  Helper helper([] {});
  move(helper.pid(), group("a"));
  move(helper.pid(), top_);
  EXPECT_TRUE(rig_.hears(HintKind::group, "fence"));
  EXPECT_EQ(rig_.count(HintKind::group, "s1"), 0) << "a move is no limit";
  const auto file = std::string(unified ? "pids.max" : "cpu.shares");
  if (const auto old = tree_->read(group("a"), file)) {
    ASSERT_TRUE(tree_->write(group("a"), file, "512"));
    EXPECT_TRUE(rig_.hears(HintKind::group, "s1"));
  }
  helper.end();
}

TEST_P(Groups, TellOfTheirChildren) {
  watch("s1", {{top_, GroupNews::child, group("b").path}});
  make("b");
  EXPECT_TRUE(rig_.hears(HintKind::made_group, "s1"));
  EXPECT_EQ(rig_.count(HintKind::group, "s1"), 0) << "no other has changed";
  rig_.forget();
  ASSERT_TRUE(tree_->remove(group("b")));
  EXPECT_TRUE(rig_.hears(HintKind::group, "s1"));
}

/// v1 has no file that tells of it.
class GroupsOfV2 : public Groups {};

TEST_P(GroupsOfV2, TellWhenTheyRunEmpty) {
  Helper helper([] {});
  move(helper.pid(), group("a"));
  watch_->watch(id_of("s1"), {{group("a"), GroupNews::population}}, {group("a")});
  helper.end();
  EXPECT_TRUE(rig_.hears(HintKind::population, "s1"));
  EXPECT_EQ(rig_.count(HintKind::group, "s1"), 0) << "no group has changed";
  EXPECT_TRUE(tree_->read(group("a"), "cgroup.events")->starts_with("populated 0"));
}

TEST_P(GroupsOfV2, WakeNobodyWhoKnowsThatSomebodyIsInThem) {
  make("b");
  watch_->watch(id_of("s1"), {{group("a"), GroupNews::population}}, {group("a")});
  watch_->watch(id_of("s2"), {{group("a"), GroupNews::population}});
  watch_->watch(id_of("s3"), {{group("b"), GroupNews::population}});
  watch_->watch(id_of("s4"), {{group("a"), GroupNews::population}}, {group("a")});
  watch_->watch(id_of("s4"), {{group("a"), GroupNews::population}});
  Helper first([] {}), second([] {});
  move(first.pid(), group("a"));
  move(second.pid(), group("b"));
  EXPECT_TRUE(rig_.hears(HintKind::population, "s3"));
  EXPECT_EQ(rig_.count(HintKind::population, "s1"), 0);
  EXPECT_GE(rig_.count(HintKind::population, "s2"), 1);
  EXPECT_GE(rig_.count(HintKind::population, "s4"), 1) << "what it has seen last counts";
  rig_.forget();
  first.end();
  second.end();
  EXPECT_TRUE(rig_.hears(HintKind::population, "s1"));
  EXPECT_TRUE(rig_.hears(HintKind::population, "s2")) << "it has not seen him, and now he has left";
}

TEST_P(Groups, ThatAreSharedWakeOnlyWhomTheirChildConcerns) {
  watch("s1", {{top_, GroupNews::child, group("one").path}});
  watch("s2", {{top_, GroupNews::child, group("two").path}});
  EXPECT_EQ(watch_->size(), 1U);
  make("stranger");
  make("one");
  make("two");
  EXPECT_TRUE(rig_.hears(HintKind::made_group, "s2"));
  EXPECT_EQ(rig_.count(HintKind::made_group, "s1"), 1);
  EXPECT_EQ(rig_.count(HintKind::made_group, "s2"), 1);
  watch_->unwatch(id_of("s1"));
  rig_.forget();
  ASSERT_TRUE(tree_->remove(group("one")));
  ASSERT_TRUE(tree_->remove(group("two")));
  EXPECT_TRUE(rig_.hears(HintKind::group, "s2"));
  EXPECT_EQ(rig_.count(HintKind::group, "s1"), 0);
}

INSTANTIATE_TEST_SUITE_P(Trees, Groups, ::testing::Values("v1", "v2"),
                         [](const auto& one) { return std::string(one.param); });
INSTANTIATE_TEST_SUITE_P(Trees, GroupLimits, ::testing::Values("v1"),
                         [](const auto& one) { return std::string(one.param); });
INSTANTIATE_TEST_SUITE_P(Trees, GroupsOfV2, ::testing::Values("v2"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace

}  // namespace kcg::test
