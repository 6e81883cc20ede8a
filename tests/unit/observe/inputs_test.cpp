// SPDX-License-Identifier: Apache-2.0
#include "observe/inputs.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "inputs_fixture.hpp"
#include "observe/bundle_dirs.hpp"
#include "support/fake_clock.hpp"

namespace kcg {
namespace {

TEST_F(Inputs, ASandboxAndItsContainer) {
  EXPECT_EQ(add("S", sandbox_json("S")).sandboxes, Ids{id_of("S")});
  EXPECT_EQ(add("C", container_json("C", "S")).sandboxes, Ids{id_of("S")});
  const auto inputs = store_->inputs(id_of("S")).inputs;
  ASSERT_TRUE(inputs.bundle);
  EXPECT_EQ(inputs.bundle->cgroups_path, "/kubepods/podU/S");
  ASSERT_EQ(inputs.containers.size(), 1U);
  EXPECT_EQ(inputs.containers[0].id, "C");
  EXPECT_TRUE(store_->known(id_of("S")));
  EXPECT_EQ(store_->ids(), Ids{id_of("S")});
  EXPECT_EQ(store_->origins().size(), 2U);
}

TEST_F(Inputs, ABundleWithoutItsFileSaysNothing) {
  fs::create_directories(bundle_dir("S"));
  EXPECT_TRUE(tell("S").sandboxes.empty());
  EXPECT_FALSE(store_->read_at());
  EXPECT_FALSE(store_->known(id_of("S")));
}

TEST_F(Inputs, AHalfWrittenBundleIsReadAgainAndNotToldOf) {
  const auto whole = sandbox_json("S");
  EXPECT_EQ(add("S", whole.substr(0, whole.size() / 2)).sandboxes, Ids{id_of("S")});
  EXPECT_TRUE(conditions("S").empty()) << "its writer may not have finished";
  ASSERT_TRUE(store_->read_at());
  EXPECT_LE(*store_->read_at() - clock_.now(), std::chrono::milliseconds(50));
  put(bundle_dir("S") / "config.json", whole);
  clock_.advance(*store_->read_at() - clock_.now());
  EXPECT_EQ(store_->read_again().sandboxes, Ids{id_of("S")}) << "without any event";
  EXPECT_FALSE(store_->read_at());
  EXPECT_TRUE(conditions("S").empty());
  EXPECT_TRUE(store_->inputs(id_of("S")).inputs.bundle);
}

TEST_F(Inputs, WhatStaysUnreadableIsToldAfterFiveSeconds) {
  const auto begin = clock_.now();
  (void)add("S", "{");
  unsigned reads = 0;
  while (const auto at = store_->read_at()) {
    EXPECT_TRUE(conditions("S").empty()) << "before its time";
    clock_.advance(*at - clock_.now());
    EXPECT_EQ(store_->read_again().sandboxes, Ids{id_of("S")});
    ASSERT_LT(++reads, 20U);
  }
  EXPECT_EQ(clock_.now() - begin, std::chrono::seconds(5));
  EXPECT_EQ(conditions("S"), Names{ConditionName::bundle_unreadable});
  (void)add("S", sandbox_json("S"));
  EXPECT_TRUE(conditions("S").empty());
}

TEST_F(Inputs, AStormOfEventsReadsNoMoreOftenByItself) {
  (void)add("S", "{");
  const auto at = store_->read_at();
  for (int i = 0; i < 100; ++i) (void)tell("S");
  EXPECT_EQ(store_->read_at(), at);
}

TEST_F(Inputs, WhatHasLongBeenUnreadableIsToldAtOnce) {
  (void)add("S", "{");
  store_.emplace(config_, clock_);  // a daemon that has just started
  const auto old = fs::file_time_type::clock::from_sys(
      std::chrono::sys_time<std::chrono::seconds>(std::chrono::seconds(clock_.wall_seconds() - 9)));
  fs::last_write_time(bundle_dir("S") / "config.json", old);
  (void)tell("S");
  EXPECT_EQ(conditions("S"), Names{ConditionName::bundle_unreadable});
  EXPECT_FALSE(store_->read_at());
}

TEST_F(Inputs, ASandboxBundleThatIsRewrittenBadlyKeepsItsClaim) {
  (void)add("S", sandbox_json("S"));
  (void)add("C", container_json("C", "S"));
  EXPECT_EQ(add("S", "{").sandboxes, Ids{id_of("S")});
  wait_until_told();
  EXPECT_EQ(conditions("S"), Names{ConditionName::bundle_unreadable});
  ASSERT_TRUE(store_->inputs(id_of("S")).inputs.bundle) << "the last word that was understood";
  EXPECT_EQ(store_->inputs(id_of("S")).inputs.containers.size(), 1U);
  fs::remove_all(bundle_dir("S"));
  (void)tell("S");
  EXPECT_FALSE(store_->inputs(id_of("S")).inputs.bundle) << "gone is gone";
}

TEST_F(Inputs, AnotherDirectoryIsAnotherLife) {
  (void)add("S", sandbox_json("S", "/old"));
  fs::rename(bundle_dir("S"), bundle_dir("S").parent_path().parent_path() / "away");
  EXPECT_EQ(add("S", "{").sandboxes, Ids{id_of("S")});
  EXPECT_FALSE(store_->inputs(id_of("S")).inputs.bundle) << "that was somebody else";
}

TEST_F(Inputs, WhatCannotBeOpenedIsNotGone) {
  (void)add("S", sandbox_json("S"));
  fs::remove(bundle_dir("S") / "config.json");
  fs::create_symlink("elsewhere", bundle_dir("S") / "config.json");  // ELOOP: not absence
  (void)tell("S");
  EXPECT_TRUE(store_->inputs(id_of("S")).inputs.bundle);
  wait_until_told();
  EXPECT_EQ(conditions("S"), Names{ConditionName::bundle_unreadable});
}

TEST_F(Inputs, AnUnreadableContainerStaysInTheSums) {
  (void)add("S", sandbox_json("S"));
  const auto whole = container_json("C", "S");
  const auto cut = whole.substr(0, whole.find("\"linux\""));
  EXPECT_EQ(add("C", cut).sandboxes, Ids{id_of("S")}) << "its annotations name the sandbox";
  EXPECT_TRUE(store_->inputs(id_of("S")).inputs.containers.empty()) << "it may be half-written";
  wait_until_told();
  EXPECT_EQ(conditions("S"), Names{ConditionName::bundle_unreadable});
  const auto inputs = store_->inputs(id_of("S")).inputs;
  ASSERT_EQ(inputs.containers.size(), 1U);
  EXPECT_EQ(inputs.containers[0].id, "C");
  EXPECT_NE(inputs.containers[0].unreadable, "");

  EXPECT_EQ(add("C", whole).sandboxes, Ids{id_of("S")});
  EXPECT_TRUE(conditions("S").empty());
  EXPECT_EQ(store_->inputs(id_of("S")).inputs.containers[0].unreadable, "");
  EXPECT_EQ(add("C", "{").sandboxes, Ids{id_of("S")});
  wait_until_told();
  EXPECT_EQ(conditions("S"), Names{ConditionName::bundle_unreadable});
  EXPECT_EQ(store_->inputs(id_of("S")).inputs.containers[0].unreadable, "") << "the last good one";
}

TEST_F(Inputs, AVanishedBundleIsForgotten) {
  (void)add("S", sandbox_json("S"));
  (void)add("C", container_json("C", "S"));
  fs::remove_all(bundle_dir("C"));
  EXPECT_EQ(tell("C").sandboxes, Ids{id_of("S")});
  EXPECT_TRUE(store_->inputs(id_of("S")).inputs.containers.empty());
  fs::remove_all(bundle_dir("S"));
  EXPECT_EQ(tell("S").sandboxes, Ids{id_of("S")});
  EXPECT_FALSE(store_->known(id_of("S")));
  EXPECT_TRUE(store_->origins().empty());
  EXPECT_TRUE(tell("S").sandboxes.empty()) << "nothing new";
}

TEST_F(Inputs, AnUnchangedBundleIsNoNews) {
  (void)add("S", sandbox_json("S"));
  EXPECT_TRUE(tell("S").sandboxes.empty());
}

TEST_F(Inputs, FilesBesideTheBundleAreNews) {
  (void)add("S", sandbox_json("S"));
  put(bundle_dir("S") / "shim.pid", "123\n");
  EXPECT_EQ(tell("S").sandboxes, Ids{id_of("S")});
  put(bundle_dir("S") / "shim-binary-path", "/opt/kata/bin/containerd-shim-kata-v2\n");
  (void)tell("S");
  const auto bundle = *store_->inputs(id_of("S")).inputs.bundle;
  EXPECT_EQ(bundle.shim_pid, 123);
  EXPECT_EQ(bundle.shim_binary, "/opt/kata/bin/containerd-shim-kata-v2");
}

TEST_F(Inputs, ABadPidFileIsNoPid) {
  put(bundle_dir("S") / "shim.pid", "-1");
  (void)add("S", sandbox_json("S"));
  EXPECT_FALSE(store_->inputs(id_of("S")).inputs.bundle->shim_pid);
}

TEST_F(Inputs, AForeignContainerIsSaidAndNotJoined) {
  (void)add("S", sandbox_json("S"));
  (void)add("C", container_json("C", "S", "/kubepods/another"));
  EXPECT_TRUE(store_->inputs(id_of("S")).inputs.containers.empty());
  EXPECT_EQ(conditions("S"), Names{ConditionName::foreign_container});
  (void)add("D", container_json("D", "S"), "moby");
  EXPECT_TRUE(store_->inputs(id_of("S")).inputs.containers.empty());
}

TEST_F(Inputs, OfTwoNamespacesTheOneWithKatasShimCounts) {
  (void)add("S", sandbox_json("S", "/first"), "a-namespace");
  (void)add("S", sandbox_json("S", "/second"), "k8s.io");
  EXPECT_EQ(store_->inputs(id_of("S")).inputs.bundle->ns, "a-namespace") << "by directory";
  put(bundle_dir("S", "k8s.io") / "shim-binary-path", "/usr/bin/containerd-shim-kata-v2");
  (void)tell("S", "k8s.io");
  const auto assembled = store_->inputs(id_of("S"));
  EXPECT_EQ(assembled.inputs.bundle->ns, "k8s.io");
  EXPECT_EQ(assembled.ignored.size(), 1U);
}

TEST_F(Inputs, ATooLargeBundleIsUnreadable) {
  config_.limits.max_bundle_bytes = 1000;
  store_.emplace(config_, clock_);
  (void)add("S", sandbox_json("S"));
  (void)add("L", sandbox_json("L") + std::string(1000, ' '));
  wait_until_told();
  EXPECT_TRUE(conditions("S").empty());
  EXPECT_EQ(conditions("L"), Names{ConditionName::bundle_unreadable});
}

TEST_F(Inputs, TooManyBundlesAreRefusedAndKnownOnesStay) {
  config_.limits.max_sandboxes = 1;  // eight bundles
  store_.emplace(config_, clock_);
  for (int i = 0; i < 8; ++i) {
    EXPECT_FALSE(store_->full());
    (void)add(fmt::format("S{}", i), sandbox_json(fmt::format("S{}", i)));
  }
  EXPECT_TRUE(store_->full());
  EXPECT_TRUE(add("S9", sandbox_json("S9")).sandboxes.empty());
  EXPECT_FALSE(store_->known(id_of("S9")));
  EXPECT_FALSE(add("S0", sandbox_json("S0", "/elsewhere")).sandboxes.empty());
  fs::remove_all(bundle_dir("S1"));
  (void)tell("S1");
  EXPECT_FALSE(tell("S9").sandboxes.empty());
}

TEST_F(Inputs, AnIdThatIsNoneIsNobodys) {
  const auto change = add("-bad", sandbox_json("-bad"));
  EXPECT_TRUE(change.sandboxes.empty());
  EXPECT_TRUE(store_->ids().empty());
}

TEST_F(Inputs, WhatTheEngineTellsOfAPodStandsBesideItsBundle) {
  nri::News news;
  for (const auto* id : {"S", "of-runc"}) {
    news.pods.push_back({id, {}});
    news.pods.back().data.overhead.memory = 160;
    news.pods.back().data.pod.name = "another";
  }
  EXPECT_TRUE(store_->pods_told(news).sandboxes.empty()) << "nobody is looked at for it";
  EXPECT_FALSE(store_->known(id_of("S")));
  (void)add("S", sandbox_json("S"));
  ASSERT_TRUE(store_->inputs(id_of("S")).inputs.node) << "it was told before the bundle was seen";
  EXPECT_EQ(store_->inputs(id_of("S")).inputs.node->overhead.memory, 160U);
  EXPECT_EQ(store_->pods_told(news).sandboxes, Ids{id_of("S")});
  nri::News gone;
  gone.pods_gone = {"S"};
  EXPECT_EQ(store_->pods_told(gone).sandboxes, Ids{id_of("S")});
  EXPECT_FALSE(store_->inputs(id_of("S")).inputs.node);
}

TEST_F(Inputs, RegistrationsAreKnownWithoutABundle) {
  Registration registration;
  registration.cgroups_path = "/p/R";
  store_->set_registration(id_of("R"), registration);
  EXPECT_TRUE(store_->known(id_of("R")));
  EXPECT_EQ(store_->inputs(id_of("R")).inputs.cgroups_path(), "/p/R");
  store_->set_registration(id_of("R"), std::nullopt);
  EXPECT_FALSE(store_->known(id_of("R")));
}

TEST_F(Inputs, BundlesOfCrio) {
  const auto dir = root_ / "crio" / "overlay-containers" / "S" / "userdata";
  put(dir / "config.json", R"({"annotations": {"io.kubernetes.cri-o.ContainerType": "sandbox",
      "io.kubernetes.cri-o.SandboxID": "S"}, "linux": {"cgroupsPath": "a.slice:crio:S"}})");
  const auto origins = list_bundles(config_.discovery);
  ASSERT_EQ(origins.size(), 1U);
  EXPECT_EQ(store_->bundle_changed(origins[0]).sandboxes, Ids{id_of("S")});
  EXPECT_EQ(store_->inputs(id_of("S")).inputs.bundle->engine, Engine::crio);
}

TEST_F(Inputs, ABundleThatContainerdDeletesIsNone) {
  put(bundle_dir("S") / "config.json", "{}");
  put(bundle_dir(".S") / "config.json", "{}");
  const auto origins = list_bundles(config_.discovery);
  ASSERT_EQ(origins.size(), 1U);
  EXPECT_EQ(origins[0].id, "S");
}

TEST_F(Inputs, OnlyPathsBelowARootAreBundles) {
  const auto tasks = containerd_tasks_root(config_.discovery);
  struct Row {
    std::string path;
    bool bundle;
  };
  for (const auto& row :
       {Row{tasks + "/k8s.io/S", true}, Row{tasks + "/k8s.io", false},
        Row{tasks + "/k8s.io/.S", false}, Row{tasks + "/k8s.io/S/rootfs", false},
        Row{tasks + "x/k8s.io/S", false}, Row{tasks, false}, Row{"/", false}, Row{"", false},
        Row{crio_containers_root(config_.discovery) + "/S/userdata", true},
        Row{crio_containers_root(config_.discovery) + "/S/rootfs", false}})
    EXPECT_EQ(bundle_origin(config_.discovery, row.path).has_value(), row.bundle) << row.path;
}

}  // namespace
}  // namespace kcg
