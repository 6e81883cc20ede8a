// SPDX-License-Identifier: Apache-2.0
//
// What every row of the table has to keep.
#include "config/keys.hpp"

#include <gtest/gtest.h>

#include <set>

namespace kcg {
namespace {

TEST(ConfigKeys, EveryDefaultIsAccepted) {
  for (const auto& key : config_keys()) {
    SCOPED_TRACE(key.name);
    Config config;
    const std::string handler = key.per_handler() ? "kata-remote" : "";
    EXPECT_TRUE(key.set(config, handler, key.get(Config{}, handler)));
    EXPECT_EQ(config, Config{});
  }
}

TEST(ConfigKeys, NoneTakesAnotherKind) {
  for (const auto& key : config_keys()) {
    SCOPED_TRACE(key.name);
    const std::string handler = key.per_handler() ? "new" : "";
    Config config;
    EXPECT_FALSE(key.set(config, handler, OtherValue{"a table"}));
    EXPECT_FALSE(key.set(config, handler, "surely not this"));
    EXPECT_FALSE(key.set(config, handler, std::int64_t{-1}));
    EXPECT_FALSE(key.set(config, handler, std::vector<std::string>{"relative"}));
    EXPECT_EQ(config, Config{}) << "a refused value changes nothing";
  }
}

TEST(ConfigKeys, CopyTakesOneFieldOver) {
  Config from;
  from.mode = Mode::observe;
  from.cgroup.root = "/x";
  for (const auto& key : config_keys()) {
    SCOPED_TRACE(key.name);
    Config to, wanted;
    key.copy(from, to);
    if (key.name == "mode") wanted.mode = Mode::observe;
    if (key.name == "cgroup.root") wanted.cgroup.root = "/x";
    EXPECT_EQ(to, wanted);
  }
}

TEST(ConfigKeys, AreDocumentedAndUnique) {
  std::set<std::string_view> names;
  for (const auto& key : config_keys()) {
    SCOPED_TRACE(key.name);
    EXPECT_TRUE(names.insert(key.name).second);
    EXPECT_TRUE(key.text.ends_with('.'));
    EXPECT_FALSE(key.type.empty());
  }
}

/// Takes and refuses, per key: the borders of each range and each kind of text.
TEST(ConfigKeys, Borders) {
  using List = std::vector<std::string>;
  const auto number = [](std::int64_t n) { return ConfigValue(n); };
  const struct {
    const char* key;
    std::vector<ConfigValue> good, bad;
  } rows[] = {
      {"mode", {"enforce", "observe"}, {"Observe", "", true}},
      {"cgroup.hierarchy", {"auto", "v1", "v2"}, {"hybrid", "v3"}},
      {"cgroup.root",
       {"/", "/sys/fs/cgroup"},
       {"", "sys", "/a/", "/a//b", "/a/./b", "/a/../b", "/a\nb", "/" + std::string(4095, 'a')}},
      {"layout.sandbox_cgroup_only",
       {"auto", true, false, "true", "false"},
       {"yes", "", number(1)}},
      {"layout.legacy_root", {"/kata", "/kata_overhead/x"}, {"/", "kata", "/a/../b", "/cpu.max"}},
      {"layout.allow_annotation", {true, false}, {"true", number(1)}},
      {"placement.existing", {"leave", "place"}, {"adopt"}},
      {"overhead.default_mib", {number(0), number(1'048'576)}, {number(1'048'577), "1"}},
      {"overhead.default_millicpu", {number(0), number(1'000'000)}, {number(1'000'001)}},
      {"overhead.max_mib", {number(1), number(1'048'576)}, {number(0), number(1'048'577)}},
      {"overhead.handlers.*.mib", {number(0), number(1'048'576)}, {number(1'048'577)}},
      {"overhead.handlers.*.millicpu", {number(0), number(1'000'000)}, {number(1'000'001)}},
      {"sizing.memory", {"never", "annotated", "always"}, {"sometimes"}},
      {"discovery.kata_state", {List{}, List{"/a", "/b"}, List(16, "/a")}, {List(17, "/a"), "/a"}},
      {"reconcile.interval",
       {"1s", "1000ms", "24h"},
       {"999ms", "0s", "86401s", "25h", number(30), "30"}},
      {"measure.interval", {"off", "1s", "24h"}, {"999ms", "25h", "on", "", true, number(10)}},
      {"bus.address",
       {"system", "none", "unix:path=/run/x", "tcp:host=h,port=1"},
       {"", "session", ":x", "unix:path=/a b", "unix:\n"}},
      {"systemd.address", {"system", "none", "unix:path=/run/x"}, {"private"}},
      {"limits.max_sandboxes", {number(1), number(1'000'000)}, {number(0), number(1'000'001)}},
      {"limits.max_threads_per_sandbox", {number(1), number(4'194'304)}, {number(4'194'305)}},
      {"limits.max_bundle_bytes",
       {number(4096), number(67'108'864)},
       {number(4095), number(67'108'865)}},
  };
  for (const auto& row : rows) {
    for (const auto& key : config_keys()) {
      if (key.name != row.key) continue;
      Config config;
      for (const auto& good : row.good)
        EXPECT_TRUE(key.set(config, "h", good)) << key.name << " = " << toml_text(good);
      for (const auto& bad : row.bad)
        EXPECT_FALSE(key.set(config, "h", bad)) << key.name << " = " << toml_text(bad);
    }
  }
}

TEST(ConfigKeys, FullName) {
  for (const auto& key : config_keys()) {
    if (key.name != "overhead.handlers.*.mib") continue;
    EXPECT_EQ(key.full_name("kata-qemu"), "overhead.handlers.kata-qemu.mib");
    EXPECT_EQ(key.full_name("a.b"), "overhead.handlers.\"a.b\".mib");
  }
}

}  // namespace
}  // namespace kcg
