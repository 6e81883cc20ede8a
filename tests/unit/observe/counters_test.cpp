// SPDX-License-Identifier: Apache-2.0
//
// What a sandbox's groups have counted: which file of which hierarchy says it.
#include "observe/counters.hpp"

#include <gtest/gtest.h>

#include "support/fake_tree.hpp"

namespace kcg::test {
namespace {

constexpr const char* kSandbox = "/p/kata-sandbox-x";
constexpr const char* kVcpu = "/p/kata-sandbox-x/vcpu";

/// A sandbox with one class group, in all hierarchies.
struct Counted {
  explicit Counted(Host host) : tree(std::move(host)) {
    view.sandbox_cgroup = kSandbox;
    for (const auto& [role, path] :
         {std::pair{GroupRole::sandbox, kSandbox}, std::pair{GroupRole::vcpu, kVcpu}}) {
      GroupView group;
      group.role = role;
      group.path = path;
      group.exists = true;
      for (const auto& hierarchy : tree.host().hierarchies) {
        tree.make_all(hierarchy.name.str(), path);
        if (hierarchy.unified) count_memory();
        group.hierarchies.push_back(hierarchy.name);
      }
      view.groups.push_back(group);
    }
  }
  void says(const char* hierarchy, const char* path, const char* file, const char* text) {
    tree.set_file({hierarchy, CgroupPath::parse(path).value()}, file, text);
  }
  void count_memory() {
    for (const auto* above : {"/", "/p"})
      EXPECT_TRUE(tree.write({"v2", CgroupPath::parse(above).value()}, "cgroup.subtree_control",
                             "+memory"));
  }
  GroupCounters counters() { return group_counters(tree, view); }

  FakeTree tree;
  SandboxView view;
};

TEST(GroupCounters, OfV1AddUpWhatEachGroupCounts) {
  Counted one(fake_host_v1());
  one.says("cpuacct", kSandbox, "cpuacct.usage", "900000");
  one.says("cpuacct", kVcpu, "cpuacct.usage", "700000");
  one.says("cpu", kVcpu, "cpu.stat", "nr_throttled 3\nthrottled_time 30000");
  one.says("memory", kSandbox, "memory.usage_in_bytes", "4096");
  one.says("memory", kSandbox, "memory.oom_control", "oom_kill_disable 0\noom_kill 1");
  one.says("memory", kVcpu, "memory.oom_control", "oom_kill_disable 0\noom_kill 2");
  const auto counters = one.counters();
  EXPECT_EQ(counters.cpu_usec, 900U);
  EXPECT_EQ(counters.by_class[0].usage_usec, 700U);
  EXPECT_EQ(counters.by_class[0].throttled_periods, 3U);
  EXPECT_EQ(counters.throttled_usec, 30U);
  EXPECT_EQ(counters.memory_used, 4096U);
  EXPECT_EQ(counters.oom_kills, 3U) << "v1 counts no kill of a group below";
  EXPECT_EQ(counters.memory.total_usec, std::nullopt);
}

TEST(GroupCounters, OfV2AreThoseOfTheTopWhereItCountsAll) {
  Counted one(fake_host_v2());
  one.says("v2", kSandbox, "cpu.stat", "usage_usec 900\nnr_throttled 1\nthrottled_usec 5");
  one.says("v2", kVcpu, "cpu.stat", "usage_usec 700\nnr_throttled 3\nthrottled_usec 30");
  one.says("v2", kSandbox, "memory.current", "4096");
  one.says("v2", kSandbox, "memory.events", "oom 5\noom_kill 2");
  const auto counters = one.counters();
  EXPECT_EQ(counters.cpu_usec, 900U);
  EXPECT_EQ(counters.throttled_usec, 35U);
  EXPECT_EQ(counters.memory_used, 4096U);
  EXPECT_EQ(counters.oom_kills, 2U);
  EXPECT_EQ(counters.io.total_usec, std::nullopt);
}

TEST(GroupCounters, NoFileIsLookedForWhereItCannotBe) {
  Counted one(fake_host_v1());
  unsigned reads = 0;
  one.tree.on_read([&] {
    ++reads;
    return 0;
  });
  (void)one.counters();  // ignored: it is about what it reads
  EXPECT_EQ(reads, 7U) << "of each group cpu.stat, cpuacct.usage, memory.oom_control, of the top "
                          "its memory, too";
}

TEST(GroupCounters, AGroupThatDoesNotExistCountsNothing) {
  Counted one(fake_host_v1());
  one.says("cpuacct", kSandbox, "cpuacct.usage", "900000");
  for (auto& group : one.view.groups) group.exists = false;
  EXPECT_EQ(one.counters(), GroupCounters{});
}

}  // namespace
}  // namespace kcg::test
