// SPDX-License-Identifier: Apache-2.0
//
// A kernel without room for one watch or descriptor more: told once, tried again, and everything
// else goes on. Each test runs in a process of its own, in a user namespace or under a limit of its
// own, so that the machine's limits stay as they are.
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>

#include "cgroup/host.hpp"
#include "cgroup/kernel_tree.hpp"
#include "daemon/watch/bundles.hpp"
#include "daemon/watch/groups.hpp"
#include "daemon/watch/kata_state.hpp"
#include "daemon/watch/mounts.hpp"
#include "daemon/watch/oom.hpp"
#include "daemon/watch/pidfds.hpp"
#include "daemon/watch/processes.hpp"
#include "live/watch_rig.hpp"
#include "proc/kernel_proc.hpp"

namespace kcg::test {

namespace {

constexpr int kPlenty = 1000;

/// The caller is ended after so much CPU time: a loop that spins is not waited for.
void limit_cpu(rlim_t seconds) {
  const rlimit limit{seconds, seconds};
  ASSERT_EQ(::setrlimit(RLIMIT_CPU, &limit), 0);
}

/// From now on there are no more descriptors than those that are open.
void limit_files() {
  const int next = ::dup(STDIN_FILENO);
  ::close(next);
  const rlimit limit{static_cast<rlim_t>(next), 4096};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
}

void free_files() {
  const rlimit limit{1024, 4096};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/// A trouble that began and ended, each told once.
void expect_told_once(Rig& rig, const std::string& reason) {
  EXPECT_TRUE(rig.until([&] { return rig.problem().empty(); })) << rig.problem();
  ASSERT_EQ(rig.told().size(), 2U) << ::testing::PrintToString(rig.told());
  EXPECT_NE(rig.told().front().find(reason), std::string::npos) << rig.told().front();
}

class Shortage : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  }
};

/// `/`, `/tmp` and the playground lead to the base.
constexpr int kAbove = 3;

TEST_F(Shortage, OfWatchesBetweenAParentAndItsChildEnds) {
  EXPECT_EQ(apart([] {
              Playground ground;
              make_directories(ground / "vc");
              limit_cpu(2);
              limit_inotify(kAbove + 1, kPlenty);
              Rig rig;
              Config::Discovery discovery;
              discovery.kata_state = {ground / "vc"};
              const KataStateWatch watch(rig.loop(), discovery, rig.sink(), rig.tell());
              EXPECT_EQ(rig.problem(), "");
              make_directories(ground / "vc/sbs/one");
              EXPECT_TRUE(rig.hears(HintKind::kata_state, "one")) << "found all the same";
              EXPECT_NE(rig.problem(), "");
              change_inotify_limits(kPlenty, kPlenty);
              expect_told_once(rig, "fs.inotify.max_user_watches");
              rig.forget();
              write_file(ground / "vc/sbs/one/persist.json", "{}");
              EXPECT_TRUE(rig.hears(HintKind::kata_state, "one")) << "watched like any other";
            }),
            0);
}

class ShortageOfBundles : public Shortage {
 protected:
  static void with_bundles(int watches, int instances,
                           const std::function<void(Rig&, const std::string& tasks)>& body) {
    Playground ground;
    limit_cpu(2);
    const auto tasks = ground / "containerd/io.containerd.runtime.v2.task/k8s.io";
    make_directories(tasks + "/old");
    limit_inotify(watches, instances);
    Rig rig;
    Config::Discovery discovery;
    discovery.containerd_state = ground / "containerd";
    discovery.crio_root = ground / "crio";
    const BundleWatch watch(rig.loop(), discovery, rig.sink(), rig.tell());
    body(rig, tasks);
  }
};

TEST_F(ShortageOfBundles, HidesNoBundleThatIsThere) {
  for (int watches = 0; watches < kAbove + 4; ++watches)
    EXPECT_EQ(apart([watches] {
                with_bundles(watches, kPlenty, [](Rig& rig, const std::string& tasks) {
                  EXPECT_TRUE(rig.hears(HintKind::bundle, tasks + "/old"));
                  EXPECT_NE(rig.problem(), "");
                  change_inotify_limits(kPlenty, kPlenty);
                  expect_told_once(rig, "fs.inotify.max_user_watches");
                  make_directories(tasks + "/new");
                  EXPECT_TRUE(rig.hears(HintKind::bundle, tasks + "/new"));
                });
              }),
              0)
        << watches << " watches";
}

TEST_F(ShortageOfBundles, HidesNoNewOneWhoseParentIsWatched) {
  EXPECT_EQ(apart([] {
              with_bundles(kAbove + 4, kPlenty, [](Rig& rig, const std::string& tasks) {
                EXPECT_EQ(rig.problem(), "");
                make_directories(tasks + "/new");
                EXPECT_TRUE(rig.hears(HintKind::bundle, tasks + "/new"));
                EXPECT_NE(rig.problem(), "");
                std::filesystem::remove_all(tasks + "/old");  // makes room
                expect_told_once(rig, "fs.inotify.max_user_watches");
              });
            }),
            0);
}

TEST_F(ShortageOfBundles, OfInstancesIsNoReasonNotToStart) {
  EXPECT_EQ(apart([] {
              with_bundles(kPlenty, 0, [](Rig& rig, const std::string& tasks) {
                EXPECT_TRUE(rig.hears(HintKind::bundle, tasks + "/old"));
                change_inotify_limits(kPlenty, kPlenty);
                expect_told_once(rig, "fs.inotify.max_user_instances");
                make_directories(tasks + "/new");
                EXPECT_TRUE(rig.hears(HintKind::bundle, tasks + "/new"));
              });
            }),
            0);
}

/// A group of our own in the memory hierarchy.
class ShortageOfGroups : public Shortage {
 protected:
  void SetUp() override {
    Shortage::SetUp();
    if (IsSkipped()) return;
    Config::Cgroup config;
    config.hierarchy = HierarchyChoice::v1;
    host_ = discover_host(config).value();
    tree_ = KernelTree::open(host_).value();
    group_ = {"memory", CgroupPath::parse(fmt::format("/kcg-shortage-{}", ::getpid())).value()};
    ASSERT_TRUE(tree_->make(group_));
  }
  void TearDown() override {
    const bool removed = !tree_ || tree_->remove(group_);
    EXPECT_TRUE(removed);
  }
  [[nodiscard]] GroupRef above() const { return {group_.hierarchy, group_.path.parent()}; }

  Host host_;
  std::unique_ptr<KernelTree> tree_;
  GroupRef group_;
};

TEST_F(ShortageOfGroups, OfWatchesIsToldAndOvercome) {
  EXPECT_EQ(apart([this] {
              limit_cpu(2);
              limit_inotify(1, kPlenty);
              Rig rig;
              GroupWatch watch(rig.loop(), host_, rig.sink(), rig.tell());
              watch.watch(id_of("first"), {{above(), GroupNews::tasks}});
              EXPECT_EQ(rig.problem(), "");
              watch.watch(id_of("second"), {{group_, GroupNews::tasks}});
              watch.watch(id_of("third"), {{group_, GroupNews::limits}});
              change_inotify_limits(kPlenty, kPlenty);
              expect_told_once(rig, "fs.inotify.max_user_watches");
              EXPECT_TRUE(rig.hears(HintKind::group, "second")) << "may have missed something";
              EXPECT_TRUE(rig.hears(HintKind::group, "third"));
              rig.forget();
              write_file(fmt::format("{}{}/cgroup.procs", host_.find("memory")->mount_point,
                                     group_.path.str()),
                         "0");
              EXPECT_TRUE(rig.hears(HintKind::group, "second"));
            }),
            0);
}

/// Also of those who were not asked for again when there was room for one.
TEST_F(ShortageOfGroups, OfWatchesForgetsNobody) {
  const std::vector<std::string> ids = {"s1", "s2", "s3", "s4"};
  const auto below = [this](const std::string& id) {
    return GroupRef{group_.hierarchy, group_.path.child(id).value()};
  };
  for (const auto& id : ids) ASSERT_TRUE(tree_->make(below(id)));
  EXPECT_EQ(apart([&] {
              limit_cpu(2);
              limit_inotify(0, kPlenty);
              Rig rig;
              GroupWatch watch(rig.loop(), host_, rig.sink(), rig.tell());
              for (const auto& id : ids) watch.watch(id_of(id), {{below(id), GroupNews::tasks}});
              change_inotify_limits(1, kPlenty);
              EXPECT_TRUE(rig.hears(HintKind::group, "s1"));
              EXPECT_EQ(watch.size(), 1U);
              change_inotify_limits(kPlenty, kPlenty);
              for (const auto& id : ids) EXPECT_TRUE(rig.hears(HintKind::group, id)) << id;
              EXPECT_EQ(watch.size(), ids.size());
            }),
            0);
  for (const auto& id : ids) EXPECT_TRUE(tree_->remove(below(id)));
}

TEST_F(ShortageOfGroups, OfDescriptorsForOomEventsIsToldAndOvercome) {
  EXPECT_EQ(apart([this] {
              limit_cpu(2);
              Rig rig;
              OomWatch watch(rig.loop(), host_, true, rig.sink(), rig.tell());
              limit_files();
              watch.watch(id_of("S"), {group_});
              EXPECT_EQ(watch.size(), 0U);
              free_files();
              expect_told_once(rig, "Too many open files");
              EXPECT_EQ(watch.size(), 1U);
              EXPECT_TRUE(rig.hears(HintKind::group, "S"));
            }),
            0);
}

/// Whether it ends meanwhile or afterwards.
TEST_F(Shortage, OfDescriptorsHidesNoEndAndMakesNone) {
  for (const bool meanwhile : {false, true})
    EXPECT_EQ(apart([meanwhile] {
                limit_cpu(2);
                Rig rig;
                auto proc = KernelProc::open().value();
                Helper helper([] {});
                const auto process = proc->stat(helper.pid()).value().key;
                PidWatch ends(rig.loop(), *proc, rig.sink(), rig.tell());
                limit_files();
                ends.watch(id_of("S"), process);
                EXPECT_EQ(rig.count(HintKind::process_end, "S", process.pid), 0) << "it lives";
                if (meanwhile) helper.end();
                free_files();
                expect_told_once(rig, "Too many open files");
                if (!meanwhile) helper.end();
                EXPECT_TRUE(rig.hears(HintKind::process_end, "S", process.pid));
              }),
              0)
        << meanwhile;
}

TEST_F(Shortage, OfDescriptorsForMountsIsOvercome) {
  EXPECT_EQ(apart([] {
              limit_cpu(2);
              Rig rig;
              limit_files();
              int changes = 0;
              const MountWatch mounts(rig.loop(), [&] { ++changes; }, rig.tell());
              free_files();
              expect_told_once(rig, "Too many open files");
              EXPECT_EQ(changes, 1) << "whatever was missed";
            }),
            0);
}

TEST_F(Shortage, OfDescriptorsHidesNoShim) {
  const Playground ground;
  std::filesystem::copy_file("/bin/sleep", ground / "containerd-shim-kata-v2");
  EXPECT_EQ(apart([&] {
              Rig rig;
              auto proc = KernelProc::open().value();
              const ProcessWatch watch(rig.loop(), *proc, rig.sink(), rig.tell());
              EXPECT_TRUE(rig.until([&] { return watch.listening(); }));
              limit_files();
              const pid_t shim = ::fork();  // it fails at once, and nobody reaps it
              if (shim == 0) {
                ::execl((ground / "containerd-shim-kata-v2").c_str(), "shim", nullptr);
                ::_exit(1);
              }
              EXPECT_TRUE(rig.hears(HintKind::exec, "", shim));
              EXPECT_EQ(rig.count(HintKind::rescan, ""), 0);
            }),
            0);
}

/// Where /proc alone tells who executed.
TEST_F(Shortage, OfDescriptorsLosesNoProgram) {
  EXPECT_EQ(apart([] {
              Rig rig;
              auto proc = KernelProc::open("/proc/.").value();
              const ProcessWatch watch(rig.loop(), *proc, rig.sink(), rig.tell());
              EXPECT_TRUE(rig.until([&] { return watch.listening(); }));
              rig.forget();
              limit_files();
              (void)run_program("/bin/true");
              EXPECT_TRUE(rig.hears(HintKind::rescan, "")) << "it may be a shim";
            }),
            0);
}

TEST_F(Shortage, OfDescriptorsForTheConnectorIsAFallbackThatEnds) {
  EXPECT_EQ(apart([] {
              Rig rig;
              auto proc = KernelProc::open().value();
              limit_files();
              ProcessWatch watch(rig.loop(), *proc, rig.sink(), rig.tell());
              EXPECT_FALSE(watch.listening());
              free_files();
              expect_told_once(rig, "proc connector");
              EXPECT_TRUE(watch.listening());
              EXPECT_TRUE(rig.hears(HintKind::rescan, "")) << "threads of the time without";
              Helper helper([] { (void)::prctl(PR_SET_NAME, "CPU 0/KVM"); });
              watch.watch_process(helper.pid());
              helper.go();
              EXPECT_TRUE(rig.hears(HintKind::thread, "", helper.pid()));
            }),
            0);
}

}  // namespace

}  // namespace kcg::test
