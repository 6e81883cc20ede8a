// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "inputs_fixture.hpp"
#include "observe/bundle_dirs.hpp"
#include "observe/inputs.hpp"
#include "support/fake_clock.hpp"

namespace kcg {
namespace {

TEST_F(Inputs, KatasStateTellsWhoseAnUnreadableContainerIs) {
  (void)add("S", sandbox_json("S"));
  (void)add("C", "");
  put(root_ / "vc" / "sbs" / "S" / "persist.json",
      R"({"Config": {"ContainerConfigs": [{"ID": "C"}]}})");
  (void)store_->state_changed(id_of("S"));
  EXPECT_TRUE(tell("C").sandboxes.contains(id_of("S"))) << "it has to be looked at, too";
  wait_until_told();
  const auto inputs = store_->inputs(id_of("S")).inputs;
  ASSERT_EQ(inputs.containers.size(), 1U);
  EXPECT_EQ(inputs.containers[0].id, "C");
  EXPECT_EQ(conditions("S"), Names{ConditionName::bundle_unreadable});
}

TEST_F(Inputs, KatasStateComesGoesAndMayBeHalfWritten) {
  const auto file = root_ / "vc" / "sbs" / "S" / "persist.json";
  EXPECT_TRUE(store_->state_changed(id_of("S")).sandboxes.empty());
  put(file, R"({"State": "running", "Config": {"SandboxCgroupOnly": true}})");
  EXPECT_EQ(store_->state_changed(id_of("S")).sandboxes, Ids{id_of("S")});
  EXPECT_EQ(store_->inputs(id_of("S")).inputs.kata->sandbox_cgroup_only, true);
  EXPECT_TRUE(store_->inputs(id_of("S")).inputs.kata->file.ends_with("/S/persist.json"));
  EXPECT_TRUE(store_->state_changed(id_of("S")).sandboxes.empty()) << "unchanged";

  // Kata truncates it and writes it again: empty or half for some milliseconds.
  for (const char* part : {"", R"({"State": "run)"}) {
    put(file, part);
    (void)store_->state_changed(id_of("S"));
    EXPECT_TRUE(conditions("S").empty());
    EXPECT_TRUE(store_->inputs(id_of("S")).inputs.kata) << "the last word that was understood";
  }
  wait_until_told();
  EXPECT_EQ(conditions("S"), Names{ConditionName::bundle_unreadable});

  put(file, R"({"State": "stopped"})");
  (void)store_->state_changed(id_of("S"));
  EXPECT_TRUE(conditions("S").empty());
  fs::remove_all(root_ / "vc");
  EXPECT_EQ(store_->state_changed(id_of("S")).sandboxes, Ids{id_of("S")});
  EXPECT_FALSE(store_->inputs(id_of("S")).inputs.kata);
}

/// Between two calls of ours: what is not there is no trouble, however old it was.
TEST_F(Inputs, WhatIsRemovedWhileItIsReadIsGone) {
  const auto old = fs::file_time_type::clock::from_sys(
      std::chrono::sys_time<std::chrono::seconds>(std::chrono::seconds(clock_.wall_seconds() - 9)));
  const auto state = root_ / "vc" / "sbs" / "S" / "persist.json";
  const auto bundle = bundle_dir("B") / "config.json";
  put(root_ / "state", R"({"State": "running"})");
  put(root_ / "bundle", sandbox_json("B"));
  for (const char* kept : {"state", "bundle"}) fs::last_write_time(root_ / kept, old);
  for (const auto& file : {state, bundle}) fs::create_directories(file.parent_path());
  const std::jthread comes_and_goes([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      fs::create_hard_link(root_ / "state", state);
      fs::create_hard_link(root_ / "bundle", bundle);
      fs::remove(state);
      fs::remove(bundle);
    }
  });
  int seen = 0;
  for (int i = 0; i < 1'000'000 && seen < 1000; ++i) {
    (void)store_->state_changed(id_of("S"));
    (void)tell("B");
    seen += store_->inputs(id_of("S")).inputs.kata ? 1 : 0;
    ASSERT_EQ(conditions("S"), Names{});
    ASSERT_EQ(conditions("B"), Names{});
  }
  EXPECT_EQ(seen, 1000) << "it was never there when it was looked for";
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
  EXPECT_EQ(store_->state_changed(id_of("S")).sandboxes, Ids{});
  EXPECT_EQ(store_->inputs(id_of("S")).inputs.kata->stopped, Stopped{"two"}) << "half-written";
  put(sandbox / "one" / "persist.json", R"({"State": "stopped"})");
  fs::remove_all(sandbox / "two");
  EXPECT_EQ(store_->state_changed(id_of("S")).sandboxes, Ids{id_of("S")});
  EXPECT_EQ(store_->inputs(id_of("S")).inputs.kata->stopped, Stopped{"one"});
}

/// Two writes within a tick of the kernel's clock leave the same stamp.
TEST_F(Inputs, WhatWasNotUnderstoodOfAContainerIsReadAgain) {
  const auto sandbox = root_ / "vc" / "sbs" / "S";
  const auto file = sandbox / "C" / "persist.json";
  put(sandbox / "persist.json", R"({"State": "running"})");
  put(file, R"({"State": "stopped")");
  const auto written = fs::last_write_time(file);
  (void)store_->state_changed(id_of("S"));
  EXPECT_TRUE(store_->inputs(id_of("S")).inputs.kata->stopped.empty());
  put(file, R"({"State":"stopped"})");
  fs::last_write_time(file, written);
  EXPECT_EQ(store_->state_changed(id_of("S")).sandboxes, Ids{id_of("S")});
  EXPECT_EQ(store_->inputs(id_of("S")).inputs.kata->stopped, std::set<std::string>{"C"});
}

/// Kata saves all of it for each thing that it does.
TEST_F(Inputs, WhatKataWritesAgainIsNoNews) {
  const auto sandbox = root_ / "vc" / "sbs" / "S";
  const auto write = [&](const char* text) {
    put(sandbox / "persist.json", text);
    return store_->state_changed(id_of("S")).sandboxes;
  };
  (void)add("S", sandbox_json("S"));
  (void)add("C", container_json("C", "S"));
  EXPECT_EQ(write(R"({"State": "ready"})"), Ids{id_of("S")});
  EXPECT_EQ(write(R"({"State": "ready", "Version": 2})"), Ids{}) << "nothing that we know of";
  EXPECT_EQ(write(R"({"State": "running"})"), Ids{id_of("S")});
  put(sandbox / "C" / "persist.json", R"({"State": "running"})");
  EXPECT_EQ(write(R"({ "State": "running"})"), Ids{});
  put(sandbox / "C" / "persist.json", R"({"State": "stopped"})");
  EXPECT_EQ(write(R"({"State": "running" })"), Ids{id_of("S")});
  EXPECT_EQ(write(""), Ids{id_of("S")}) << "trouble begins";
  EXPECT_EQ(write(R"({"State": "running"})"), Ids{id_of("S")}) << "and ends";
}

TEST_F(Inputs, ThatAContainerHasStoppedIsNewsForABundleThatCameLater) {
  const auto sandbox = root_ / "vc" / "sbs" / "S";
  put(sandbox / "persist.json", R"({"State": "running"})");
  put(sandbox / "C" / "persist.json", R"({"State": "stopped"})");
  (void)store_->state_changed(id_of("S"));
  (void)add("S", sandbox_json("S"));
  (void)add("C", container_json("C", "S"));
  EXPECT_FALSE(store_->inputs(id_of("S")).inputs.containers.at(0).ended);
  put(sandbox / "persist.json", R"({"State":  "running"})");
  EXPECT_EQ(store_->state_changed(id_of("S")).sandboxes, Ids{id_of("S")});
  EXPECT_TRUE(store_->inputs(id_of("S")).inputs.containers.at(0).ended);
}

TEST_F(Inputs, OnceStoppedAContainerStaysSoUntilItsBundleGoes) {
  const auto sandbox = root_ / "vc" / "sbs" / "S";
  const auto state = [&](const char* text) {
    put(sandbox / "C" / "persist.json", text);
    return store_->state_changed(id_of("S")).sandboxes;
  };
  const auto ended = [&] { return store_->inputs(id_of("S")).inputs.containers.at(0).ended; };
  (void)add("S", sandbox_json("S"));
  (void)add("C", container_json("C", "S"));
  put(sandbox / "persist.json", R"({"State": "running"})");
  (void)state(R"({"State": "running"})");
  EXPECT_FALSE(ended());
  (void)state(R"({"State": "stopped"})");
  EXPECT_TRUE(ended());
  (void)state(R"({"State": "stop)");
  EXPECT_TRUE(ended()) << "half-written";
  fs::remove_all(sandbox / "C");
  (void)store_->state_changed(id_of("S"));
  EXPECT_TRUE(ended()) << "Kata's file goes before the bundle";
  fs::remove_all(sandbox);
  (void)store_->state_changed(id_of("S"));
  EXPECT_TRUE(ended());

  put(sandbox / "persist.json", R"({"State": "running"})");
  (void)state(R"({"State": "running"})");
  EXPECT_FALSE(ended()) << "Kata says otherwise";
  (void)state(R"({"State": "stopped"})");
  fs::remove_all(sandbox / "C");
  (void)store_->state_changed(id_of("S"));
  fs::remove_all(bundle_dir("C"));
  (void)tell("C");
  (void)add("C", container_json("C", "S"));
  EXPECT_FALSE(ended()) << "an id that returns starts anew";
}

TEST_F(Inputs, StateWithoutABundleIsDroppedAndReadAnewForTheNextLife) {
  const auto file = root_ / "vc" / "sbs" / "S" / "persist.json";
  (void)add("S", sandbox_json("S"));
  put(file, R"({"State": "running"})");
  (void)store_->state_changed(id_of("S"));
  fs::remove_all(bundle_dir("S"));
  (void)tell("S");
  fs::remove_all(root_ / "vc");  // nobody tells of it
  store_->drop_stale_states();
  (void)add("S", sandbox_json("S"));
  EXPECT_FALSE(store_->inputs(id_of("S")).inputs.kata);

  put(file, R"({"State": "stopped"})");
  fs::remove_all(bundle_dir("S"));
  (void)tell("S");
  (void)add("S", sandbox_json("S"));
  EXPECT_TRUE(store_->inputs(id_of("S")).inputs.kata) << "what is there now is read";
  store_->drop_stale_states();
  EXPECT_TRUE(store_->inputs(id_of("S")).inputs.kata);
}

TEST_F(Inputs, KatasConfigurationIsPassedOn) {
  EXPECT_EQ(store_->inputs(id_of("S")).inputs.kata_config_only, std::nullopt);
  store_->set_kata_config(KataConfig{false, "/etc/k.toml:7", {{"qemu", {512, "/etc/k.toml:3"}}}});
  EXPECT_EQ(store_->inputs(id_of("S")).inputs.kata_config_where, "/etc/k.toml:7");
  EXPECT_EQ(store_->inputs(id_of("S")).inputs.kata_config_only, false);
  EXPECT_EQ(store_->inputs(id_of("S")).inputs.kata_default_memory.at("qemu"),
            (KataDefaultMemory{512, "/etc/k.toml:3"}));
}

}  // namespace
}  // namespace kcg
