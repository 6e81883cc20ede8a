// SPDX-License-Identifier: Apache-2.0
#include "observe/inputs.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "observe/bundle_dirs.hpp"

namespace kcg {
namespace {

namespace fs = std::filesystem;

SandboxId id_of(const std::string& text) { return SandboxId::parse(text).value(); }

std::string sandbox_json(const std::string& id, const std::string& pod = "/kubepods/podU") {
  return fmt::format(R"({{"annotations": {{"io.kubernetes.cri.container-type": "sandbox",
      "io.kubernetes.cri.sandbox-id": "{}"}}, "linux": {{"cgroupsPath": "{}/{}"}}}})",
                     id, pod, id);
}

std::string container_json(const std::string& id, const std::string& sandbox,
                           const std::string& pod = "/kubepods/podU") {
  return fmt::format(R"({{"annotations": {{"io.kubernetes.cri.container-type": "container",
      "io.kubernetes.cri.sandbox-id": "{}"}}, "linux": {{"cgroupsPath": "{}/{}"}}}})",
                     sandbox, pod, id);
}

class Inputs : public testing::Test {
 protected:
  Inputs() {
    std::string pattern = testing::TempDir() + "inputs-XXXXXX";
    if (::mkdtemp(pattern.data()) != nullptr) root_ = pattern;
    config_.discovery.containerd_state = root_ / "containerd";
    config_.discovery.crio_root = root_ / "crio";
    config_.discovery.kata_state = {root_ / "vc"};
    store_.emplace(config_);
  }
  ~Inputs() override { fs::remove_all(root_); }

  [[nodiscard]] fs::path bundle_dir(const std::string& id, const std::string& ns = "k8s.io") const {
    return root_ / "containerd" / "io.containerd.runtime.v2.task" / ns / id;
  }
  static void put(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  InputChange tell(const std::string& id, const std::string& ns = "k8s.io") {
    return store_->bundle_changed(bundle_origin(config_.discovery, bundle_dir(id, ns)).value());
  }
  InputChange add(const std::string& id, const std::string& json,
                  const std::string& ns = "k8s.io") {
    put(bundle_dir(id, ns) / "config.json", json);
    return tell(id, ns);
  }
  [[nodiscard]] std::vector<ConditionName> conditions(const std::string& id) const {
    std::vector<ConditionName> names;
    for (const auto& one : store_->inputs(id_of(id)).conditions) names.push_back(one.condition);
    return names;
  }
  using Ids = std::set<SandboxId>;
  using Names = std::vector<ConditionName>;

  fs::path root_;
  Config config_;
  std::optional<InputStore> store_;
};

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
  const auto change = tell("S");
  EXPECT_TRUE(change.sandboxes.empty());
  EXPECT_FALSE(change.unreadable);
  EXPECT_FALSE(store_->known(id_of("S")));
}

TEST_F(Inputs, AHalfWrittenBundleIsReadAgain) {
  const auto whole = sandbox_json("S");
  auto change = add("S", whole.substr(0, whole.size() / 2));
  EXPECT_TRUE(change.unreadable);
  EXPECT_EQ(conditions("S"), Names{ConditionName::bundle_unreadable});
  EXPECT_TRUE(tell("S").unreadable) << "also when the file is still the same";
  change = add("S", whole);
  EXPECT_FALSE(change.unreadable);
  EXPECT_TRUE(conditions("S").empty());
  EXPECT_TRUE(store_->inputs(id_of("S")).inputs.bundle);
}

TEST_F(Inputs, AGoodBundleThatIsRewrittenBadlyIsUnreadable) {
  (void)add("S", sandbox_json("S"));
  EXPECT_TRUE(add("S", "{").unreadable);
  EXPECT_EQ(conditions("S"), Names{ConditionName::bundle_unreadable});
  EXPECT_FALSE(store_->inputs(id_of("S")).inputs.bundle);
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
  store_.emplace(config_);
  EXPECT_FALSE(add("S", sandbox_json("S")).unreadable);
  EXPECT_TRUE(add("L", sandbox_json("L") + std::string(1000, ' ')).unreadable);
  EXPECT_EQ(conditions("L"), Names{ConditionName::bundle_unreadable});
}

TEST_F(Inputs, TooManyBundlesAreRefusedAndKnownOnesStay) {
  config_.limits.max_sandboxes = 1;  // eight bundles
  store_.emplace(config_);
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

TEST_F(Inputs, KatasStateComesGoesAndMayBeHalfWritten) {
  const auto file = root_ / "vc" / "sbs" / "S" / "persist.json";
  EXPECT_TRUE(store_->state_changed(id_of("S")).sandboxes.empty());
  put(file, R"({"State": "running", "Config": {"SandboxCgroupOnly": true}})");
  EXPECT_EQ(store_->state_changed(id_of("S")).sandboxes, Ids{id_of("S")});
  EXPECT_EQ(store_->inputs(id_of("S")).inputs.kata->sandbox_cgroup_only, true);
  EXPECT_TRUE(store_->state_changed(id_of("S")).sandboxes.empty()) << "unchanged";

  put(file, R"({"State": "run)");
  const auto change = store_->state_changed(id_of("S"));
  EXPECT_TRUE(change.unreadable);
  EXPECT_EQ(conditions("S"), Names{ConditionName::bundle_unreadable});
  EXPECT_TRUE(store_->inputs(id_of("S")).inputs.kata) << "the last word that was understood";

  put(file, R"({"State": "stopped"})");
  EXPECT_FALSE(store_->state_changed(id_of("S")).unreadable);
  EXPECT_TRUE(conditions("S").empty());
  fs::remove_all(root_ / "vc");
  EXPECT_EQ(store_->state_changed(id_of("S")).sandboxes, Ids{id_of("S")});
  EXPECT_FALSE(store_->inputs(id_of("S")).inputs.kata);
}

TEST_F(Inputs, KataSaysWhichContainersHaveStopped) {
  using Stopped = std::set<std::string>;
  const auto sandbox = root_ / "vc" / "sbs" / "S";
  put(sandbox / "persist.json", R"({"State": "running"})");
  put(sandbox / "one" / "persist.json", R"({"State": "running"})");
  put(sandbox / "two" / "persist.json", R"({"State": "stopped", "Process": {"Pid": 1}})");
  EXPECT_EQ(store_->state_changed(id_of("S")).sandboxes, Ids{id_of("S")});
  EXPECT_EQ(store_->inputs(id_of("S")).inputs.kata->stopped, Stopped{"two"});
  EXPECT_TRUE(store_->state_changed(id_of("S")).sandboxes.empty()) << "unchanged";
  put(sandbox / "one" / "persist.json", R"({"State": "stop)");
  EXPECT_EQ(store_->state_changed(id_of("S")).sandboxes, Ids{id_of("S")});
  EXPECT_EQ(store_->inputs(id_of("S")).inputs.kata->stopped, Stopped{"two"}) << "half-written";
  put(sandbox / "one" / "persist.json", R"({"State": "stopped"})");
  fs::remove_all(sandbox / "two");
  EXPECT_EQ(store_->state_changed(id_of("S")).sandboxes, Ids{id_of("S")});
  EXPECT_EQ(store_->inputs(id_of("S")).inputs.kata->stopped, Stopped{"one"});
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

TEST_F(Inputs, KatasConfigurationIsPassedOn) {
  EXPECT_EQ(store_->inputs(id_of("S")).inputs.kata_config_only, std::nullopt);
  store_->set_kata_config(KataConfig{false, "/etc/k.toml:7"});
  EXPECT_EQ(store_->inputs(id_of("S")).inputs.kata_config_where, "/etc/k.toml:7");
  EXPECT_EQ(store_->inputs(id_of("S")).inputs.kata_config_only, false);
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

TEST_F(Inputs, OnlyPathsBelowARootAreBundles) {
  const auto tasks = containerd_tasks_root(config_.discovery);
  struct Row {
    std::string path;
    bool bundle;
  };
  for (const auto& row : {Row{tasks + "/k8s.io/S", true}, Row{tasks + "/k8s.io", false},
                          Row{tasks + "/k8s.io/S/rootfs", false}, Row{tasks + "x/k8s.io/S", false},
                          Row{tasks, false}, Row{"/", false}, Row{"", false},
                          Row{crio_containers_root(config_.discovery) + "/S/userdata", true},
                          Row{crio_containers_root(config_.discovery) + "/S/rootfs", false}})
    EXPECT_EQ(bundle_origin(config_.discovery, row.path).has_value(), row.bundle) << row.path;
}

}  // namespace
}  // namespace kcg
