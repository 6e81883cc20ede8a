// SPDX-License-Identifier: Apache-2.0
#include "config/dump.hpp"

#include <gtest/gtest.h>

#include "config/load.hpp"

namespace kcg {
namespace {

bool holds_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST(Dump, ShowsValuesWithTheirOrigin) {
  const auto loaded = load_config({{"/etc/a.toml",
                                    "mode = \"observe\"\n[overhead.handlers.\"q.x\"]\n"
                                    "mib = 7\n"}});
  ASSERT_TRUE(loaded) << loaded.error().text;
  const auto text = dump(*loaded);
  for (const char* line :
       {"mode = \"observe\"  # /etc/a.toml:1", "[cgroup]", "root = \"/sys/fs/cgroup\"  # default",
        "sandbox_cgroup_only = \"auto\"  # default", "[overhead.handlers.\"q.x\"]",
        "mib = 7  # /etc/a.toml:3", "[overhead.handlers.kata]", "interval = \"30s\"  # default",
        "kata_state = [\"/run/vc\", \"/run/kata\"]  # default"})
    EXPECT_TRUE(holds_line(text, line)) << line << "\nin\n" << text;
}

TEST(Dump, ALongListHasALineForEachElement) {
  const auto text = dump(Config{});
  for (const char* line :
       {"kata_config = [  # default", "  \"/etc/kata-containers/configuration.toml\",", "]"})
    EXPECT_TRUE(holds_line(text, line)) << line << "\nin\n" << text;
}

TEST(Dump, LoadsAgain) {
  Config odd;
  odd.mode = Mode::observe;
  odd.layout.sandbox_cgroup_only = false;
  odd.cgroup.root = "/with \"quotes\" and \\";
  odd.discovery.kata_config = {};
  odd.overhead.handlers = {{"a.b", {1, 2}}, {"kata", {0, 0}}, {"kata-remote", {120, 250}}};
  odd.reconcile_interval = std::chrono::milliseconds(1500);
  for (const auto& config : {Config{}, odd}) {
    const auto again = load_config({{"dump", dump(config)}});
    ASSERT_TRUE(again) << again.error().text;
    EXPECT_EQ(*again, config);
  }
}

TEST(Dump, AFileNameCannotEndTheComment) {
  const auto loaded = load_config({{"/etc/a\nmode = 1\n", "mode = \"observe\"\n"}});
  ASSERT_TRUE(loaded);
  EXPECT_TRUE(load_config({{"dump", dump(*loaded)}}));
}

}  // namespace
}  // namespace kcg
