// SPDX-License-Identifier: Apache-2.0
#include "kernel/proc_cgroup.hpp"

#include <gtest/gtest.h>

namespace kcg {
namespace {

constexpr const char* kHybrid =
    "12:pids:/a\n"
    "5:memory:/pods/m\n"
    "4:cpuset:/pods/s\n"
    "3:cpu,cpuacct:/pods/c:x\n"
    "1:name=systemd:/init.scope\n"
    "0::/u\n";

TEST(ProcCgroup, ParsesLines) {
  const auto entries = parse_proc_cgroup(kHybrid);
  ASSERT_TRUE(entries) << entries.error().text;
  ASSERT_EQ(entries->size(), 6U);
  EXPECT_EQ(entries->at(3), (ProcCgroup{"cpu,cpuacct", "/pods/c:x", false, false}));
  EXPECT_EQ(entries->at(4), (ProcCgroup{"name=systemd", "/init.scope", false, false}));
  EXPECT_EQ(entries->at(5), (ProcCgroup{"", "/u", true, false}));
  EXPECT_TRUE(parse_proc_cgroup("")->empty());
}

TEST(ProcCgroup, StripsDeletedOnlyWhereTheKernelWritesIt) {
  const auto entries = parse_proc_cgroup("4:cpuset:/x (deleted)\n0::/y (deleted)\n");
  ASSERT_TRUE(entries);
  EXPECT_EQ(entries->at(0), (ProcCgroup{"cpuset", "/x (deleted)", false, false}));
  EXPECT_EQ(entries->at(1), (ProcCgroup{"", "/y", true, true}));
}

TEST(ProcCgroup, RefusesAndShowsTheLine) {
  for (const char* bad : {"\n", "0:/x\n", "0::x\n", "0::\n", "x::/\n", "0\n", "0::/\n\n"})
    EXPECT_FALSE(parse_proc_cgroup(bad)) << bad;
  EXPECT_NE(parse_proc_cgroup("0:/x\n").error().text.find("'0:/x'"), std::string::npos);
}

Hierarchy v1(const char* name, std::vector<std::string> controllers) {
  return {name, std::move(controllers), false, ""};
}

TEST(GroupsFor, FollowsTheHostsOrder) {
  const Host v2_host{HierarchyMode::v2, {{"v2", {"cpu", "memory"}, true, ""}}};
  const Host v1_host{HierarchyMode::hybrid,
                     {v1("memory", {"memory"}), v1("cpuacct,cpu", {"cpuacct", "cpu"}),
                      v1("cpuset", {"cpuset"}), v1("blkio", {"blkio"})}};
  const struct {
    const char* name;
    const Host& host;
    const char* text;
    std::vector<std::string> groups;
  } rows[] = {
      {"v2", v2_host, "0::/pods/x\n", {"/pods/x"}},
      {"v2 beside named v1", v2_host, "1:name=systemd:/s\n0::/pods/x\n", {"/pods/x"}},
      {"v1 in the host's order, one hierarchy missing",
       v1_host,
       kHybrid,
       {"/pods/m", "/pods/c:x", "/pods/s", ""}},
      {"cpu is not cpuset", v1_host, "4:cpuset:/only\n", {"", "", "/only", ""}},
      {"v2 text on a v1 host", v1_host, "0::/u\n", {"", "", "", ""}},
      {"nothing", v2_host, "", {""}},
      {"outside our namespace", v2_host, "0::/../../x\n", {"/../../x"}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto groups = groups_for(row.host, row.text);
    ASSERT_TRUE(groups) << groups.error().text;
    EXPECT_EQ(*groups, row.groups);
  }
  EXPECT_FALSE(groups_for(v2_host, "nonsense\n"));
}

}  // namespace
}  // namespace kcg
