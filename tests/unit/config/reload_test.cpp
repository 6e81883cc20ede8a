// SPDX-License-Identifier: Apache-2.0
#include "config/reload.hpp"

#include <gtest/gtest.h>

namespace kcg {
namespace {

TEST(RunRoot, PrefixesWhatIsBelowRun) {
  Config config;
  config.discovery.kata_state = {"/run/vc", "/running", "/run"};
  const auto moved = with_run_root(config, "/tmp/node/");
  EXPECT_EQ(moved.discovery.containerd_state, "/tmp/node/run/containerd");
  EXPECT_EQ(moved.discovery.crio_root, "/tmp/node/run/containers/storage");
  EXPECT_EQ(moved.discovery.kata_state,
            (std::vector<std::string>{"/tmp/node/run/vc", "/running", "/tmp/node/run"}));
  EXPECT_EQ(moved.discovery.kata_config, config.discovery.kata_config);
  EXPECT_EQ(moved.cgroup, config.cgroup);
  EXPECT_EQ(with_run_root(config, ""), config);
  EXPECT_EQ(with_run_root(config, "/"), config);
}

TEST(AfterReload, AppliesWhatItCanAndNamesTheRest) {
  Config running, loaded;
  running.mode = Mode::observe;
  loaded.cgroup.root = "/other";
  loaded.discovery.kata_state = {"/x"};
  loaded.overhead.handlers["new"] = {1, 2};
  loaded.overhead.default_mib = 5;
  const auto reloaded = after_reload(running, loaded);
  EXPECT_EQ(reloaded.needs_restart,
            (std::vector<std::string>{"cgroup.root", "discovery.kata_state"}));
  EXPECT_EQ(
      reloaded.applied,
      (std::vector<std::string>{"mode \"observe\" -> \"enforce\"", "overhead.default_mib 350 -> 5",
                                "overhead.handlers.new.mib not given -> 1",
                                "overhead.handlers.new.millicpu not given -> 2"}));
  auto wanted = loaded;
  wanted.cgroup = running.cgroup;
  wanted.discovery = running.discovery;
  EXPECT_EQ(reloaded.config, wanted);
  EXPECT_EQ(reloaded.config.mode, Mode::enforce);
}

TEST(AfterReload, KeepsWhatNoFileCouldSay) {
  Config running;
  running.cgroup.root = "./given/on/the/command/line";
  const auto reloaded = after_reload(running, Config{});
  EXPECT_EQ(reloaded.config, running);
  EXPECT_EQ(reloaded.needs_restart, std::vector<std::string>{"cgroup.root"});
}

TEST(AfterReload, NothingChanged) {
  EXPECT_TRUE(after_reload(Config{}, Config{}).needs_restart.empty());
  EXPECT_TRUE(after_reload(Config{}, Config{}).applied.empty());
  EXPECT_EQ(after_reload(Config{}, Config{}).config, Config{});
}

}  // namespace
}  // namespace kcg
