// SPDX-License-Identifier: Apache-2.0
#include "model/host.hpp"

#include <gtest/gtest.h>

namespace kcg {
namespace {

TEST(Hierarchy, ComparesWholeControllerNames) {
  const Hierarchy cpuset{"cpuset", {"cpuset"}, false, "/c"};
  EXPECT_TRUE(cpuset.has("cpuset"));
  EXPECT_FALSE(cpuset.has("cpu"));
  EXPECT_FALSE(cpuset.has(""));
}

TEST(Hierarchy, SplitsThreads) {
  const struct {
    Hierarchy hierarchy;
    bool splits;
  } rows[] = {
      {{"v2", {}, true, ""}, true},
      {{"cpu,cpuacct", {"cpu", "cpuacct"}, false, ""}, true},
      {{"cpuacct", {"cpuacct"}, false, ""}, true},
      {{"cpuset", {"cpuset"}, false, ""}, true},
      {{"memory", {"memory"}, false, ""}, false},
      {{"pids", {"pids"}, false, ""}, false},
  };
  for (const auto& row : rows)
    EXPECT_EQ(row.hierarchy.splits_threads(), row.splits) << row.hierarchy.name.str();
}

TEST(Host, FindsByName) {
  const Host host{HierarchyMode::hybrid,
                  {{"memory", {"memory"}, false, ""}, {"cpu", {}, false, ""}}};
  ASSERT_NE(host.find("cpu"), nullptr);
  EXPECT_EQ(host.find("cpu")->name, "cpu");
  EXPECT_EQ(host.find("cpuset"), nullptr);
  EXPECT_FALSE(host.unified()) << "hybrid follows the rules of v1";
  EXPECT_TRUE(Host{}.unified());
}

}  // namespace
}  // namespace kcg
