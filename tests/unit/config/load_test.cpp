// SPDX-License-Identifier: Apache-2.0
#include "config/load.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace kcg {
namespace {

using namespace std::chrono_literals;

TEST(LoadConfig, NothingGivesTheDefaults) {
  EXPECT_EQ(*load_config({}), Config{});
  EXPECT_EQ(*load_config({{"a.toml", ""}}), Config{});
  EXPECT_EQ(*load_config({{"a.toml", "[cgroup]\n[overhead]\n"}}), Config{});
  EXPECT_EQ(load_config({})->origin("mode"), "default");
}

TEST(LoadConfig, ReadsEveryKey) {
  const auto loaded = load_config({{"a.toml", R"(
mode = "observe"
[cgroup]
hierarchy = "v2"
root = "/cg"
[layout]
sandbox_cgroup_only = false
legacy_root = "/kata_overhead"
allow_annotation = true
[placement]
thread_groups = false
existing = "place"
[overhead]
default_mib = 1
default_millicpu = 2
max_mib = 3
[overhead.handlers.kata]
mib = 4
[overhead.handlers."x.y"]
millicpu = 5
[sizing]
memory = "always"
vcpu_quota = false
[discovery]
containerd_state = "/c"
crio_root = "/o"
kata_state = ["/s"]
kata_config = []
[reconcile]
interval = "5m"
[bus]
address = "none"
[systemd]
address = "unix:path=/x"
[limits]
max_sandboxes = 7
max_threads_per_sandbox = 8
max_bundle_bytes = 4096
)"}});
  ASSERT_TRUE(loaded) << loaded.error().text;
  Config wanted;
  wanted.mode = Mode::observe;
  wanted.cgroup = {HierarchyChoice::v2, "/cg"};
  wanted.layout = {false, "/kata_overhead", true};
  wanted.placement = {false, ExistingPolicy::place};
  wanted.overhead = {1, 2, 3, {{"kata", {4, 250}}, {"kata-remote", {120, 250}}, {"x.y", {350, 5}}}};
  wanted.sizing = {MemorySizing::always, false};
  wanted.discovery = {"/c", "/o", {"/s"}, {}};
  wanted.reconcile_interval = 5min;
  wanted.bus_address = "none";
  wanted.systemd_address = "unix:path=/x";
  wanted.limits = {7, 8, 4096};
  EXPECT_EQ(*loaded, wanted);
  EXPECT_EQ(loaded->origin("mode"), "a.toml:2");
  EXPECT_EQ(loaded->origin("overhead.handlers.\"x.y\".millicpu"), "a.toml:20");
  EXPECT_EQ(loaded->origin("overhead.handlers.\"x.y\".mib"), "default");
}

TEST(LoadConfig, LaterFilesWinKeyByKey) {
  const auto loaded = load_config({
      {"main",
       "mode = \"observe\"\n[discovery]\nkata_state = [\"/a\", \"/b\"]\n"
       "[overhead.handlers.kata]\nmib = 1\nmillicpu = 2\n"},
      {"10.toml", "[discovery]\nkata_state = [\"/c\"]\n[overhead.handlers.kata]\nmib = 9\n"},
      {"20.toml", "[overhead.handlers.kata]\nmib = 10\n"},
  });
  ASSERT_TRUE(loaded) << loaded.error().text;
  EXPECT_EQ(loaded->mode, Mode::observe);
  EXPECT_EQ(loaded->discovery.kata_state, std::vector<std::string>{"/c"});
  EXPECT_EQ(loaded->overhead.handlers.at("kata"), (HandlerOverhead{10, 2}));
  EXPECT_EQ(loaded->origin("overhead.handlers.kata.mib"), "20.toml:2");
  EXPECT_EQ(loaded->origin("overhead.handlers.kata.millicpu"), "main:6");
}

TEST(LoadConfig, AnEmptyHandlerTableAddsTheHandler) {
  const auto loaded = load_config({{"a", "[overhead.handlers.new]\n"}});
  ASSERT_TRUE(loaded) << loaded.error().text;
  EXPECT_EQ(loaded->overhead.handlers.at("new"), HandlerOverhead{});
}

TEST(LoadConfig, ProblemsNameFileLineAndKey) {
  const struct {
    const char *name, *text, *problem;
  } rows[] = {
      {"unknown key", "[cgroup]\nrot = \"/x\"\n",
       "a.toml:2: cgroup.rot: unknown key; known here: hierarchy, root"},
      {"unknown section", "[cgrup]\nroot = \"/x\"\n", "a.toml:2: cgrup.root: unknown key"},
      {"unknown empty section", "[cgrup]\n",
       "a.toml:1: cgrup: unknown key; known here: mode, cgroup, layout, placement, overhead, "
       "sizing, discovery, nri, reconcile, measure, bus, systemd, limits"},
      {"below a key", "[mode]\nx = 1\n", "a.toml:2: mode.x: unknown key"},
      {"unknown key of a handler", "[overhead.handlers.kata]\nMiB = 1\n",
       "a.toml:2: overhead.handlers.kata.MiB: unknown key; known here: mib, millicpu"},
      {"wrong type", "[placement]\nthread_groups = \"no\"\n",
       "a.toml:2: placement.thread_groups: must be true or false, not \"no\""},
      {"typo in a choice", "mode = \"enforced\"\n",
       "a.toml:1: mode: must be one of \"enforce\", \"observe\", not \"enforced\""},
      {"range", "[overhead]\nmax_mib = 0\n",
       "a.toml:2: overhead.max_mib: must be a whole number from 1 to 1048576, not 0"},
      {"negative", "[limits]\nmax_sandboxes = -1\n",
       "a.toml:2: limits.max_sandboxes: must be a whole number from 1 to 1000000, not -1"},
      {"fraction", "[overhead]\nmax_mib = 1.0\n",
       "a.toml:2: overhead.max_mib: must be a whole number from 1 to 1048576, not a fraction"},
      {"date", "[overhead]\nmax_mib = 2024-01-01\n",
       "a.toml:2: overhead.max_mib: must be a whole number from 1 to 1048576, not a date or time"},
      {"table for a value", "[cgroup.root]\n",
       "a.toml:1: cgroup.root: must be an absolute path without '.', '..' and '//', not a table"},
      {"value for a table", "cgroup = 3\n", "a.toml:1: cgroup: must be a table, not 3"},
      {"array of tables", "[[cgroup]]\nroot = \"/x\"\n",
       "a.toml:1: cgroup: must be a table, not an array that holds something else than strings"},
      {"mixed list", "[discovery]\nkata_state = [\"/a\", 1]\n",
       "a.toml:2: discovery.kata_state: must be a list of up to 16 absolute paths, not an array "
       "that holds something else than strings"},
      {"duration without a unit", "[reconcile]\ninterval = 30\n",
       "a.toml:2: reconcile.interval: must be a duration from 1s to 24h, such as \"30s\", \"5m\", "
       "not 30"},
      {"handler with a blank", "[overhead.handlers.\"a b\"]\nmib = 1\n",
       "a.toml:2: overhead.handlers.\\x22a b\\x22.mib: not the name of a runtime handler"},
      {"empty handler", "[overhead.handlers.\"\"]\nmib = 1\n",
       "a.toml:2: overhead.handlers.\\x22\\x22.mib: not the name of a runtime handler"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto loaded = load_config({{"a.toml", row.text}});
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().text, row.problem);
  }
}

TEST(LoadConfig, ValuesThatCannotWorkAreRefused) {
  const auto refused = [](const std::string& section, const std::string& key, const char* value) {
    const auto loaded =
        load_config({{"a.toml", fmt::format("[{}]\n{} = \"{}\"\n", section, key, value)}});
    ASSERT_FALSE(loaded) << value;
    EXPECT_EQ(loaded.error().text.find(fmt::format("a.toml:2: {}.{}: must be ", section, key)), 0U);
    EXPECT_NE(loaded.error().text.find(fmt::format("not \"{}\"", value)), std::string::npos);
  };
  for (const auto* root :
       {"/", "", "kata", "/system.slice", "/system.slice/kata", "/a/b.slice", "/init.scope",
        "/user.slice/x", "/kubepods", "/kubepods/kata", "/kubepods.slice/kata", "/x/kubepods/y",
        "/a.service/b", "/machine.slice", "/a/../b", "/a//b", "/memory.max", "/cgroup.procs"})
    refused("layout", "legacy_root", root);
  for (const auto* section : {"bus", "systemd"})
    for (const auto* address :
         {"", "unix", "unix:", "tcp:", "session", "/run/bus", ":path=/x", "unix:path",
          "unix:path=", "unix:=/x", "unix:path=/x,", "unix:path=/x;", "unix:path=/a b"})
      refused(section, "address", address);
  for (const auto* good : {"system", "none", "unix:path=/run/x", "tcp:host=a,port=1",
                           "unix:path=/a;unix:path=/b", "unix:abstract=x,guid=1"})
    EXPECT_TRUE(load_config({{"a", fmt::format("[bus]\naddress = \"{}\"\n", good)}})) << good;
  for (const auto* good : {"/kata", "/kata_overhead", "/a/b", "/kubepods-kata"})
    EXPECT_TRUE(load_config({{"a", fmt::format("[layout]\nlegacy_root = \"{}\"\n", good)}}))
        << good;
}

TEST(LoadConfig, TellsTheFirstTwentyProblems) {
  std::string text = "mode = \"enforced\"\n";
  for (int i = 0; i < 50'000; ++i) text += fmt::format("k{} = 1\n", i);
  const auto loaded = load_config({{"a.toml", text}, {"b.toml", "x = 1\n"}});
  ASSERT_FALSE(loaded);
  const auto& told = loaded.error().text;
  EXPECT_EQ(told.find("a.toml:1: mode: must be"), 0U);
  EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 20);
  EXPECT_TRUE(told.ends_with("\nand 49982 more")) << told.substr(told.size() - 80);
}

TEST(LoadConfig, DuplicatesAndBadTomlNameFileAndLine) {
  for (const char* bad : {"mode = \"observe\"\nmode = \"observe\"\n", "[cgroup]\n[cgroup]\n",
                          "# fine\nmode = \n", "\nmode observe\n", "\nx = \"\xff\"\n"}) {
    const auto loaded = load_config({{"a.toml", bad}});
    ASSERT_FALSE(loaded) << bad;
    EXPECT_EQ(loaded.error().text.find("a.toml:2: "), 0U) << loaded.error().text;
  }
}

TEST(LoadConfig, AllProblemsAtOnceInOrder) {
  const auto loaded = load_config({
      {"main", "zzz = 1\n[sizing]\nmemory = 7\n[cgroup]\nroot = \"x\"\n"},
      {"bad", "]"},
      {"last", "mode = 1\n"},
  });
  ASSERT_FALSE(loaded);
  std::vector<std::string> heads;
  std::string text = loaded.error().text + "\n";
  while (!text.empty()) {
    heads.push_back(text.substr(0, text.find(' ')));
    text.erase(0, text.find('\n') + 1);
  }
  EXPECT_EQ(heads,
            (std::vector<std::string>{"main:1:", "main:3:", "main:5:", "bad:1:", "last:1:"}));
}

}  // namespace
}  // namespace kcg
