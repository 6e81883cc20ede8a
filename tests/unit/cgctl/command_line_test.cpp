// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/command_line.hpp"

#include <gtest/gtest.h>

#include "base/version.hpp"

namespace kcg::cgctl {
namespace {

CommandLine parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "cgctl");
  return parse_command_line(static_cast<int>(arguments.size()), arguments.data());
}

TEST(CommandLine, GlobalOptionsBeforeAndAfterTheVerb) {
  const std::vector<std::vector<const char*>> rows = {
      {"--json", "--bus", "unix:path=/x", "--no-daemon", "--color", "never", "--config", "c",
       "--cgroup-root", "g", "--run-root", "r", "list"},
      {"list", "--json", "--bus", "unix:path=/x", "--no-daemon", "--color", "never", "--config",
       "c", "--cgroup-root", "g", "--run-root", "r"},
      {"--json", "--color=never", "--no-daemon", "list", "--bus=unix:path=/x", "--config=c",
       "--cgroup-root=g", "--run-root=r"}};
  for (const auto& row : rows) {
    const auto line = parse(row);
    ASSERT_FALSE(line.exit) << line.err;
    EXPECT_EQ(line.options.verb, Verb::list);
    EXPECT_TRUE(line.options.json);
    EXPECT_TRUE(line.options.no_daemon);
    EXPECT_EQ(line.options.bus, "unix:path=/x");
    EXPECT_EQ(line.options.color, ColorChoice::never);
    EXPECT_EQ(line.options.config_file, "c");
    EXPECT_EQ(line.options.cgroup_root, "g");
    EXPECT_EQ(line.options.run_root, "r");
  }
}

TEST(CommandLine, LabelsMayBeRepeated) {
  const auto line = parse({"list", "-l", "app=web", "--label", "tier"});
  ASSERT_FALSE(line.exit) << line.err;
  EXPECT_EQ(line.options.labels, (std::vector<std::string>{"app=web", "tier"}));
  EXPECT_TRUE(parse({"list", "--label"}).exit) << "without a label";
}

TEST(CommandLine, EachVerb) {
  const struct {
    std::vector<const char*> arguments;
    Verb verb;
    const char* id;
  } rows[] = {
      {{}, Verb::status, ""},
      {{"status"}, Verb::status, ""},
      {{"list"}, Verb::list, ""},
      {{"show", "abcd"}, Verb::show, "abcd"},
      {{"tree"}, Verb::tree, ""},
      {{"tree", "abcd"}, Verb::tree, "abcd"},
      {{"threads", "abcd"}, Verb::threads, "abcd"},
      {{"plan"}, Verb::plan, ""},
      {{"plan", "abcd"}, Verb::plan, "abcd"},
      {{"explain", "abcd"}, Verb::explain, "abcd"},
      {{"uninstall-check"}, Verb::uninstall_check, ""},
      {{"release"}, Verb::release, ""},
      {{"release", "abcd"}, Verb::release, "abcd"},
      {{"reconcile"}, Verb::reconcile, ""},
      {{"reconcile", "abcd"}, Verb::reconcile, "abcd"},
      {{"register", "abcd"}, Verb::register_sandbox, "abcd"},
      {{"unregister", "abcd"}, Verb::unregister_sandbox, "abcd"},
      {{"reload"}, Verb::reload, ""},
      {{"check-config"}, Verb::check_config, ""},
      {{"watch"}, Verb::watch, ""},
      {{"watch", "default/nginx"}, Verb::watch, "default/nginx"},
  };
  for (const auto& row : rows) {
    const auto line = parse(row.arguments);
    ASSERT_FALSE(line.exit) << line.err;
    const auto* const verb = row.arguments.empty() ? "none" : row.arguments[0];
    EXPECT_EQ(line.options.verb, row.verb) << verb;
    EXPECT_EQ(line.options.id, row.id) << verb;
    EXPECT_EQ(line.options.brief, row.arguments.empty());
  }
}

TEST(CommandLine, OnlyTheShortStatusHasNoVerb) {
  EXPECT_TRUE(parse({"--json"}).options.brief);
  EXPECT_FALSE(parse({"status"}).options.brief);
}

TEST(CommandLine, ExplainTakesATopic) {
  EXPECT_EQ(parse({"explain", "default/nginx", "memory"}).options.topic, "memory");
  EXPECT_EQ(parse({"explain", "default/nginx"}).options.topic, "");
  EXPECT_EQ(parse({"explain", "default/nginx", "love"}).exit, Exit::usage);
}

TEST(CommandLine, CheckConfigTakesAFile) {
  EXPECT_EQ(parse({"check-config", "/etc/x.toml"}).options.config_file, "/etc/x.toml");
}

TEST(CommandLine, UsageErrors) {
  const std::vector<std::vector<const char*>> rows = {
      {"frobnicate"},
      {"show"},
      {"threads"},
      {"register"},
      {"unregister"},
      {"list", "extra"},
      {"list", "--nonsense"},
      {"list", "--adopt"},
      {"list", "--color", "pink"},
      {"show", "a", "b"},
      {"plan", "--bundle"},
      {"plan", "--assume-hierarchy", "v2"},
      {"plan", "--bundle", "d", "--assume-hierarchy", "v3"},
      {"list", "show", "abcd"},
      {"register", "a", "--shim-pid", "-1"},
      {"register", "a", "--memory-overhead", "350Xi"},
      {"register", "a", "--annotation", "novalue"},
      {"register", "a", "--container", "c:memory"},
  };
  for (const auto& row : rows) {
    const auto line = parse(row);
    EXPECT_EQ(line.exit, Exit::usage) << testing::PrintToString(row);
    EXPECT_TRUE(line.out.empty());
    EXPECT_NE(line.err.find("cgctl: "), std::string::npos) << line.err;
    auto for_programs = row;
    for_programs.insert(for_programs.begin(), "--json");
    const auto json = parse(for_programs);
    EXPECT_EQ(json.exit, Exit::usage) << testing::PrintToString(row);
    EXPECT_TRUE(json.err.starts_with(
        "{\"version\":1,\"error\":{\"name\":\"InvalidArgument\",\"message\":\""))
        << json.err;
  }
}

TEST(CommandLine, WhatWasTypedCannotMoveTheCursor) {
  const auto line = parse({"list", "--\x1b[2J\u202e"});
  EXPECT_EQ(line.err.find('\x1b'), std::string::npos);
  EXPECT_EQ(line.err.find("\u202e"), std::string::npos);
}

TEST(CommandLine, HelpAndVersionBeforeAndAfterTheVerb) {
  for (const std::vector<const char*>& row :
       std::vector<std::vector<const char*>>{{"--help"},
                                             {"-h"},
                                             {"list", "--help"},
                                             {"list", "-h"},
                                             {"--version"},
                                             {"list", "--version"}}) {
    const auto line = parse(row);
    EXPECT_EQ(line.exit, Exit::good) << testing::PrintToString(row);
    EXPECT_FALSE(line.out.empty());
    EXPECT_TRUE(line.err.empty());
  }
  EXPECT_EQ(parse({"--version"}).out, std::string("cgctl ") + version() + "\n");
}

TEST(CommandLine, PlanOfBundles) {
  const auto line = parse({"plan", "--bundle", "/b/sandbox", "/b/app", "--assume-hierarchy", "v1",
                           "--config", "/etc/x.toml", "--json"});
  ASSERT_FALSE(line.exit) << line.err;
  EXPECT_EQ(line.options.bundles, (std::vector<std::string>{"/b/sandbox", "/b/app"}));
  EXPECT_EQ(line.options.assumed, HierarchyMode::v1);
  EXPECT_EQ(line.options.config_file, "/etc/x.toml");
  EXPECT_TRUE(line.options.json);
  const auto twice = parse({"plan", "--bundle", "/a", "--bundle", "/b", "--detailed-exitcode"});
  ASSERT_FALSE(twice.exit) << twice.err;
  EXPECT_EQ(twice.options.bundles, (std::vector<std::string>{"/a", "/b"}));
  EXPECT_TRUE(twice.options.detailed_exit);
}

TEST(CommandLine, Register) {
  const auto line = parse({"register",
                           "abcd",
                           "--cgroups-path",
                           "/a/b",
                           "--handler",
                           "kata",
                           "--pod-namespace",
                           "n",
                           "--pod-name",
                           "p",
                           "--pod-uid",
                           "u",
                           "--annotation",
                           "a=b=c",
                           "--annotation",
                           "x=",
                           "--container",
                           "c1:memory=512M:cpu-quota=50000:cpu-period=100000:cpu-shares=512:"
                           "cpus=0-1,4:mems=0",
                           "--container",
                           "c2",
                           "--shim-pid",
                           "12",
                           "--vmm-pid",
                           "13",
                           "--memory-overhead",
                           "350M",
                           "--cpu-overhead",
                           "250",
                           "--sandbox-cgroup-only",
                           "false"});
  ASSERT_FALSE(line.exit) << line.err;
  const auto& r = line.options.registration;
  EXPECT_EQ(r.cgroups_path, "/a/b");
  EXPECT_EQ(r.handler, "kata");
  EXPECT_EQ(r.pod_namespace, "n");
  EXPECT_EQ(r.pod_name, "p");
  EXPECT_EQ(r.pod_uid, "u");
  EXPECT_EQ(r.annotations,
            (std::vector<std::pair<std::string, std::string>>{{"a", "b=c"}, {"x", ""}}));
  ASSERT_EQ(r.containers.size(), 2U);
  EXPECT_EQ(r.containers[0],
            (ContainerOption{"c1", 512ULL << 20, 50000, 100000, 512, "0-1,4", "0"}));
  EXPECT_EQ(r.containers[1].id, "c2");
  EXPECT_EQ(r.shim_pid, 12);
  EXPECT_EQ(r.vmm_pid, 13);
  EXPECT_EQ(r.memory_overhead, 350ULL << 20);
  EXPECT_EQ(r.cpu_overhead_milli, 250U);
  EXPECT_EQ(r.sandbox_cgroup_only, false);
}

TEST(CommandLine, RegisterLeavesOutWhatWasNotGiven) {
  const auto line = parse({"register", "abcd"});
  ASSERT_FALSE(line.exit) << line.err;
  const auto& r = line.options.registration;
  EXPECT_FALSE(r.cgroups_path || r.handler || r.pod_uid || r.shim_pid || r.memory_overhead ||
               r.cpu_overhead_milli || r.sandbox_cgroup_only);
}

TEST(ParseContainer, NamesWhatIsWrong) {
  const struct {
    const char* text;
    const char* part;
  } rows[] = {{"", "no id"},
              {":memory=1", "no id"},
              {"c:memory", "'memory' is not NAME=VALUE"},
              {"c:ram=1", "'ram' is not one of"},
              {"c:cpu-quota=-1", "'-1' is not a number"},
              {"c:cpu-quota=1K", "'1K' is not a number"},
              {"c:memory=1X", "'1X'"}};
  for (const auto& row : rows) {
    const auto container = parse_container(row.text);
    ASSERT_FALSE(container) << row.text;
    EXPECT_NE(container.error().text.find(row.part), std::string::npos) << container.error().text;
  }
}

}  // namespace
}  // namespace kcg::cgctl
