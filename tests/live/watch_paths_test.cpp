// SPDX-License-Identifier: Apache-2.0
//
// Bundles and Kata's state: directories that come, go, and are not there yet.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "daemon/watch/bundles.hpp"
#include "daemon/watch/kata_state.hpp"
#include "daemon/watch/mounts.hpp"
#include "live/watch_rig.hpp"
#include "observe/bundle_dirs.hpp"

namespace kcg::test {

namespace {

class Bundles : public ::testing::Test {
 protected:
  void start() {
    discovery_.containerd_state = ground_ / "run/containerd";
    discovery_.crio_root = ground_ / "run/containers/storage";
    watch_ = std::make_unique<BundleWatch>(rig_.loop(), discovery_, rig_.sink(), rig_.tell());
  }
  [[nodiscard]] std::string bundle(const std::string& name) const {
    return ground_ / ("run/containerd/io.containerd.runtime.v2.task/" + name);
  }
  [[nodiscard]] bool hears(const std::string& directory) {
    return rig_.hears(HintKind::bundle, directory);
  }

  /// All that was done before is heard of when this new directory is.
  void settle(const std::string& fence) {
    make_directories(fence);
    EXPECT_TRUE(hears(fence));
  }

  Playground ground_;
  Rig rig_;
  Config::Discovery discovery_;
  std::unique_ptr<BundleWatch> watch_;
};

TEST_F(Bundles, AreFoundWhereTheyStandAlready) {
  make_directories(bundle("k8s.io/a"));
  make_directories(bundle("moby/b"));
  start();
  EXPECT_TRUE(hears(bundle("k8s.io/a")));
  EXPECT_TRUE(hears(bundle("moby/b")));
  EXPECT_EQ(list_bundles(discovery_).size(), 2U);
  EXPECT_EQ(rig_.problem(), "");
}

TEST_F(Bundles, AreWaitedForWhileNoDirectoryExists) {
  start();
  make_directories(bundle("k8s.io/a"));
  EXPECT_TRUE(hears(bundle("k8s.io/a")));
  rig_.forget();
  write_file(bundle("k8s.io/a") + "/config.json", "{}");
  EXPECT_TRUE(hears(bundle("k8s.io/a")));
}

TEST_F(Bundles, AreWaitedForStepByStep) {
  start();
  std::string path = ground_.path();
  for (const char* step : {"run", "containerd", "io.containerd.runtime.v2.task", "k8s.io", "a"}) {
    path += std::string("/") + step;
    make_directories(path);
    (void)sd_event_run(rig_.loop().get(), 0);
  }
  EXPECT_TRUE(hears(bundle("k8s.io/a")));
}

TEST_F(Bundles, OfNamespacesThatAppearLater) {
  make_directories(bundle("k8s.io"));
  start();
  make_directories(bundle("default/x"));
  EXPECT_TRUE(hears(bundle("default/x")));
}

TEST_F(Bundles, TellOfEachFileOfInterest) {
  make_directories(bundle("k8s.io/a"));
  start();
  for (const char* file : {"config.json", "shim.pid", "shim-binary-path"}) {
    rig_.forget();
    write_file(bundle("k8s.io/a") + "/" + file, "1");
    EXPECT_TRUE(hears(bundle("k8s.io/a"))) << file;
  }
  rig_.forget();
  write_file(bundle("k8s.io/a") + "/new", "1");
  std::filesystem::rename(bundle("k8s.io/a") + "/new", bundle("k8s.io/a") + "/config.json");
  EXPECT_TRUE(hears(bundle("k8s.io/a")));
}

TEST_F(Bundles, DoNotTellOfOtherFiles) {
  make_directories(bundle("k8s.io/a"));
  make_directories(bundle("k8s.io/fence"));
  start();
  rig_.forget();
  write_file(bundle("k8s.io/a") + "/log", "1");
  write_file(bundle("k8s.io/a") + "/address", "1");
  write_file(bundle("k8s.io/fence") + "/config.json", "1");
  EXPECT_TRUE(hears(bundle("k8s.io/fence")));
  EXPECT_EQ(rig_.count(HintKind::bundle, bundle("k8s.io/a")), 0);
}

TEST_F(Bundles, TellWhenTheyGo) {
  make_directories(bundle("k8s.io/a"));
  start();
  rig_.forget();
  std::filesystem::remove_all(bundle("k8s.io/a"));
  EXPECT_TRUE(hears(bundle("k8s.io/a")));
}

TEST_F(Bundles, SurviveTheLossOfTheirRoot) {
  make_directories(bundle("k8s.io/a"));
  start();
  std::filesystem::remove_all(ground_ / "run");
  EXPECT_TRUE(hears(bundle("k8s.io/a")));
  rig_.forget();
  make_directories(bundle("k8s.io/b"));
  EXPECT_TRUE(hears(bundle("k8s.io/b")));
}

TEST_F(Bundles, SurviveAMoveOfTheirRoot) {
  make_directories(bundle("k8s.io/a"));
  start();
  rig_.forget();
  std::filesystem::rename(bundle(""), ground_ / "old");
  EXPECT_TRUE(hears(bundle("k8s.io/a")));
  make_directories(bundle("k8s.io/b"));
  EXPECT_TRUE(hears(bundle("k8s.io/b")));
  rig_.forget();
  make_directories(ground_ / "old/k8s.io/stale");
  write_file(bundle("k8s.io/b") + "/config.json", "1");
  EXPECT_TRUE(hears(bundle("k8s.io/b")));
  EXPECT_EQ(rig_.count(HintKind::bundle, bundle("k8s.io/stale")), 0);
}

TEST_F(Bundles, SurviveAMoveOfADirectoryAboveTheirRoot) {
  make_directories(bundle("k8s.io/a"));
  make_directories(ground_ / "run/containers/storage/overlay-containers");  // or it is waited for
  start();
  rig_.forget();
  std::filesystem::rename(ground_ / "run", ground_ / "old");
  EXPECT_TRUE(hears(bundle("k8s.io/a")));
  make_directories(bundle("k8s.io/b"));
  EXPECT_TRUE(hears(bundle("k8s.io/b")));
}

TEST_F(Bundles, AreFollowedToTheirNewNames) {
  make_directories(bundle("k8s.io/a"));
  start();
  rig_.forget();
  std::filesystem::rename(bundle("k8s.io/a"), bundle("k8s.io/b"));
  EXPECT_TRUE(hears(bundle("k8s.io/a")));
  settle(bundle("default/renamed"));
  rig_.forget();
  write_file(bundle("k8s.io/b") + "/config.json", "1");
  EXPECT_TRUE(hears(bundle("k8s.io/b")));
  std::filesystem::rename(bundle("k8s.io"), bundle("moby"));
  EXPECT_TRUE(hears(bundle("moby/b")));
  settle(bundle("default/fence"));
  write_file(bundle("moby/b") + "/config.json", "1");
  EXPECT_TRUE(hears(bundle("moby/b")));
}

TEST_F(Bundles, ThatAreReplacedInOneGoAreFollowed) {
  make_directories(bundle("k8s.io/a"));
  start();
  for (int life = 0; life < 3; ++life) {
    std::filesystem::remove_all(bundle("k8s.io/a"));
    make_directories(bundle("k8s.io/a"));
  }
  settle(bundle("default/fence"));
  write_file(bundle("k8s.io/a") + "/config.json", "1");
  EXPECT_TRUE(hears(bundle("k8s.io/a")));
}

TEST_F(Bundles, AreFollowedThroughLinksAboveTheirRoot) {
  make_directories(ground_ / "first/containerd/io.containerd.runtime.v2.task/k8s.io/a");
  make_directories(ground_ / "second/containerd/io.containerd.runtime.v2.task/k8s.io/b");
  start();
  std::filesystem::create_directory_symlink(ground_ / "first", ground_ / "run");
  EXPECT_TRUE(hears(bundle("k8s.io/a")));
  rig_.forget();
  std::filesystem::create_directory_symlink(ground_ / "second", ground_ / "new");
  std::filesystem::rename(ground_ / "new", ground_ / "run");
  EXPECT_TRUE(hears(bundle("k8s.io/b")));
  EXPECT_TRUE(hears(bundle("k8s.io/a"))) << "it cannot be reached any more";
  rig_.forget();
  make_directories(ground_ / "first/containerd/io.containerd.runtime.v2.task/k8s.io/stale");
  settle(bundle("k8s.io/fence"));
  EXPECT_EQ(rig_.count(HintKind::bundle, bundle("k8s.io/stale")), 0);
}

TEST_F(Bundles, SurviveAFileInPlaceOfTheirRoot) {
  make_directories(bundle("k8s.io/a"));
  start();
  rig_.forget();
  const auto root = ground_ / "run/containerd/io.containerd.runtime.v2.task";
  std::filesystem::remove_all(root);
  write_file(root, "no directory");
  EXPECT_TRUE(hears(bundle("k8s.io/a")));
  settle(ground_ / "run/containers/storage/overlay-containers/fence/userdata");
  EXPECT_EQ(rig_.problem(), "") << "there is nothing to watch, and that is no trouble";
  std::filesystem::remove(root);
  make_directories(bundle("k8s.io/b"));
  EXPECT_TRUE(hears(bundle("k8s.io/b")));
}

TEST_F(Bundles, TellOnceOfAllThatATurnBrings) {
  make_directories(bundle("k8s.io/a"));
  start();
  rig_.forget();
  for (int i = 0; i < 2000; ++i)
    write_file(bundle("k8s.io/a") + (i % 2 == 0 ? "/config.json" : "/shim.pid"), "");
  settle(bundle("k8s.io/fence"));
  EXPECT_GE(rig_.count(HintKind::bundle, bundle("k8s.io/a")), 1);
  EXPECT_LE(rig_.count(HintKind::bundle, bundle("k8s.io/a")), 4) << "of 2,000 events";
}

TEST(BundlesUnderMounts, AreFoundAndThoseBelowWhenTheMountGoes) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  EXPECT_EQ(apart([] {
              ASSERT_EQ(::unshare(CLONE_NEWNS), 0);
              ASSERT_EQ(::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
              Playground ground;
              Rig rig;
              Config::Discovery discovery;
              discovery.containerd_state = ground / "containerd";
              discovery.crio_root = ground / "crio";
              const auto tasks = ground / "containerd/io.containerd.runtime.v2.task/k8s.io";
              make_directories(tasks + "/below");
              BundleWatch watch(rig.loop(), discovery, rig.sink(), rig.tell());
              const MountWatch mounts(rig.loop(), [&] { watch.recheck(); }, rig.tell());
              rig.forget();
              const auto& over = discovery.containerd_state;
              ASSERT_EQ(::mount("none", over.c_str(), "tmpfs", 0, nullptr), 0);
              EXPECT_TRUE(rig.hears(HintKind::bundle, tasks + "/below")) << "it is hidden";
              make_directories(tasks + "/above");
              EXPECT_TRUE(rig.hears(HintKind::bundle, tasks + "/above"));
              rig.forget();
              ASSERT_EQ(::umount2(over.c_str(), MNT_DETACH), 0);
              EXPECT_TRUE(rig.hears(HintKind::bundle, tasks + "/below"));
              EXPECT_TRUE(rig.hears(HintKind::bundle, tasks + "/above"));
              rig.forget();
              write_file(tasks + "/below/config.json", "1");
              EXPECT_TRUE(rig.hears(HintKind::bundle, tasks + "/below"));
              EXPECT_EQ(rig.problem(), "");
            }),
            0);
}

TEST_F(Bundles, OfCrioHaveAnotherShape) {
  start();
  const std::string userdata = ground_ / "run/containers/storage/overlay-containers/c1/userdata";
  make_directories(userdata);
  EXPECT_TRUE(hears(userdata));
  rig_.forget();
  write_file(userdata + "/config.json", "{}");
  EXPECT_TRUE(hears(userdata));
}

TEST_F(Bundles, FindTheirWayAfterLostEvents) {
  make_directories(bundle("k8s.io/a"));
  start();
  rig_.forget();
  // More events than the kernel keeps; it folds equal neighbours, so they alternate.
  for (int i = 0; i < 20'000; ++i)
    write_file(bundle("k8s.io/a") + (i % 2 == 0 ? "/config.json" : "/shim.pid"), "");
  make_directories(bundle("k8s.io/during"));
  EXPECT_TRUE(rig_.hears(HintKind::rescan, ""));
  EXPECT_TRUE(hears(bundle("k8s.io/during")));
}

TEST_F(Bundles, ThatEndWithLostEventsAreToldAll) {
  make_directories(bundle("k8s.io/a"));
  make_directories(bundle("k8s.io/gone"));
  make_directories(bundle("k8s.io/moved"));
  start();
  const auto before = kernel_watches();
  rig_.forget();
  for (int i = 0; i < 20'000; ++i)
    write_file(bundle("k8s.io/a") + (i % 2 == 0 ? "/config.json" : "/shim.pid"), "");
  std::filesystem::remove_all(bundle("k8s.io/gone"));
  std::filesystem::rename(bundle("k8s.io/moved"), ground_ / "elsewhere");
  EXPECT_TRUE(rig_.hears(HintKind::rescan, ""));
  EXPECT_TRUE(hears(bundle("k8s.io/gone")));
  EXPECT_TRUE(hears(bundle("k8s.io/moved")));
  EXPECT_EQ(kernel_watches() + 2, before);
}

TEST_F(Bundles, AreNotFollowedThroughLinks) {
  make_directories(bundle("k8s.io"));
  make_directories(ground_ / "elsewhere/a");
  start();
  std::filesystem::create_directory_symlink(ground_ / "elsewhere", bundle("linked"));
  make_directories(bundle("k8s.io/fence"));
  EXPECT_TRUE(hears(bundle("k8s.io/fence")));
  EXPECT_EQ(rig_.count(HintKind::bundle, bundle("linked/a")), 0);
}

TEST(KataState, WhatChangesAtOnceIsToldOnce) {
  Playground ground;
  Rig rig;
  Config::Discovery discovery;
  discovery.kata_state = {ground / "run/vc"};
  for (const auto* container : {"a", "b"})
    make_directories(ground / ("run/vc/sbs/one/" + std::string(container)));
  const KataStateWatch watch(rig.loop(), discovery, rig.sink(), rig.tell());
  rig.forget();
  for (const auto* file : {"persist.json", "a/persist.json", "b/persist.json"})
    write_file(ground / ("run/vc/sbs/one/" + std::string(file)), "{}");
  EXPECT_TRUE(rig.hears(HintKind::kata_state, "one"));
  EXPECT_EQ(rig.count(HintKind::kata_state, "one"), 1);
}

TEST(KataState, TellsTheIdOfBothShims) {
  Playground ground;
  Rig rig;
  Config::Discovery discovery;
  discovery.kata_state = {ground / "run/vc", ground / "run/kata"};
  const KataStateWatch watch(rig.loop(), discovery, rig.sink(), rig.tell());
  make_directories(ground / "run/vc/sbs/one");
  EXPECT_TRUE(rig.hears(HintKind::kata_state, "one"));
  make_directories(ground / "run/kata/two");
  EXPECT_TRUE(rig.hears(HintKind::kata_state, "two"));
  rig.forget();
  write_file(ground / "run/vc/sbs/one/persist.json", "{}");
  EXPECT_TRUE(rig.hears(HintKind::kata_state, "one"));
  write_file(ground / "run/kata/two/state.json", "{}");
  EXPECT_TRUE(rig.hears(HintKind::kata_state, "two"));
  rig.forget();
  rig.forget();
  {
    std::ofstream half(ground / "run/vc/sbs/one/persist.json");
    half << "{" << std::flush;
    write_file(ground / "run/kata/two/state.json", "{}");
    EXPECT_TRUE(rig.hears(HintKind::kata_state, "two"));
    EXPECT_EQ(rig.count(HintKind::kata_state, "one"), 0) << "half a file is no news";
  }
  EXPECT_TRUE(rig.hears(HintKind::kata_state, "one"));
  std::filesystem::remove(ground / "run/vc/sbs/one/persist.json");
  rig.forget();
  EXPECT_TRUE(rig.hears(HintKind::kata_state, "one"));
  rig.forget();
  {
    std::ofstream half(ground / "run/vc/sbs/one/persist.json");  // made anew, as IN_CREATE tells
    half << "{" << std::flush;
    write_file(ground / "run/kata/two/state.json", "{}");
    EXPECT_TRUE(rig.hears(HintKind::kata_state, "two"));
    EXPECT_EQ(rig.count(HintKind::kata_state, "one"), 0) << "half a new file is none either";
  }
  EXPECT_TRUE(rig.hears(HintKind::kata_state, "one"));
  rig.forget();
  make_directories(ground / "run/vc/sbs/one/container");
  EXPECT_TRUE(rig.hears(HintKind::kata_state, "one"));
  rig.forget();
  write_file(ground / "run/vc/sbs/one/container/persist.json", "{}");
  EXPECT_TRUE(rig.hears(HintKind::kata_state, "one"));
  rig.forget();
  std::filesystem::remove_all(ground / "run/vc/sbs/one");
  EXPECT_TRUE(rig.hears(HintKind::kata_state, "one"));
}

}  // namespace

}  // namespace kcg::test
