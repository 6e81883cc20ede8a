// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "diff_steps.hpp"
#include "plan/desired.hpp"
#include "plan/diff.hpp"
#include "support/allowed.hpp"
#include "support/sandbox_world.hpp"

namespace kcg::test {
namespace {

TEST_F(Settled, V1LimitsAreLiftedTheSame) {
  auto s = scenario(HierarchyMode::v1);
  s.config.sizing.memory = MemorySizing::always;
  place(s);
  world_->scenario.config.sizing.vcpu_quota = false;
  world_->scenario.config.sizing.memory = MemorySizing::never;
  EXPECT_EQ(plan("cpu"),
            (std::vector<std::string>{"limit /kata-sandbox-S/vcpu cpu.cfs_quota_us=-1"}));
  EXPECT_EQ(plan("memory"),
            (std::vector<std::string>{"limit /kata-sandbox-S memory.limit_in_bytes=-1"}));
  (void)world_->pass();
  EXPECT_EQ(describe(world_->look().plan), "");
}

/// Kata made no group there.
class V1Cpuset : public Settled {
 protected:
  void SetUp() override {
    auto s = scenario(HierarchyMode::v1);
    s.kata_cpuset = false;
    place(s);
  }
  void containers_get(const char* cpus) {
    world_->assembled.inputs.containers.front().resources.cpus = cpus;
  }
};

TEST_F(V1Cpuset, NarrowsFromTheChildrenUp) {
  containers_get("1-2");
  EXPECT_EQ(plan("cpuset"), (std::vector<std::string>{"seed /kata-sandbox-S/vcpu cpuset.cpus=1-2",
                                                      "seed /kata-sandbox-S/io cpuset.cpus=1-2",
                                                      "seed /kata-sandbox-S/vmm cpuset.cpus=1-2",
                                                      "seed /kata-sandbox-S/shim cpuset.cpus=1-2",
                                                      "seed /kata-sandbox-S cpuset.cpus=1-2"}));
  (void)world_->pass();
  EXPECT_TRUE(plan("cpuset").empty());
}

TEST_F(V1Cpuset, WidensFromTheParentDown) {
  containers_get("1-2");
  (void)world_->pass();
  containers_get("0-3");
  const auto all = plan("cpuset");
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(all.front(), "seed /kata-sandbox-S cpuset.cpus=0-3");
}

TEST_F(V1Cpuset, MovesElsewhereThroughTheUnion) {
  containers_get("0-1");
  (void)world_->pass();
  containers_get("2-3");
  const auto all = plan("cpuset");
  ASSERT_EQ(all.size(), 6U);
  EXPECT_EQ(all.front(), "seed /kata-sandbox-S cpuset.cpus=0-3");
  EXPECT_EQ(all.back(), "seed /kata-sandbox-S cpuset.cpus=2-3");
  const auto pass = world_->pass();
  for (const auto& result : pass.rounds.front().report.results)
    EXPECT_EQ(result.outcome, Outcome::done) << describe(result.step) << ": " << result.text;
}

TEST(Diff, V1QuotasAreLoweredFromTheChildUp) {
  auto s = scenario(HierarchyMode::v1);
  s.pod_less = true;
  SandboxWorld world(s);
  auto& quota = world.assembled.inputs.bundle->resources.cpu_quota;
  quota = 300'000;
  world.boot();
  (void)world.pass();
  for (const std::int64_t next : {100'000, 250'000, 50'000}) {
    quota = next;
    const auto pass = world.pass();
    for (const auto& result : pass.rounds.front().report.results)
      EXPECT_EQ(result.outcome, Outcome::done) << describe(result.step) << ": " << result.text;
    EXPECT_EQ(describe(world.look().plan), "");
  }
}

TEST(Diff, ALeaderThatIsAVcpuKeepsItsPlaceInTheLegacyLayout) {
  auto s = scenario(HierarchyMode::v1);
  s.kata_only = false;
  s.kvm_entries = false;
  SandboxWorld world(s);
  world.boot();
  world.proc.set_vcpu_ioctl(world.vmm);
  (void)world.pass();
  EXPECT_EQ(describe(world.look().plan), "");
  EXPECT_EQ(world.tree.group_of(world.vmm, "cpu"), world.kata_group);
}

TEST(Diff, TheLegacyRootIsNotBoundByOnePodsCpus) {
  auto s = scenario(HierarchyMode::v1);
  s.kata_only = false;
  s.kata_cpuset = false;
  SandboxWorld world(s);
  world.assembled.inputs.containers.front().resources.cpus = std::string("1");
  world.boot();
  (void)world.pass();
  const auto cpus = [&](const std::string& path) {
    return world.tree.read({"cpuset", CgroupPath::parse(path).value()}, "cpuset.cpus").value();
  };
  for (const char* path : {"/kata", "/kata/S"}) EXPECT_EQ(cpus(path), "0-3") << path;
  EXPECT_EQ(cpus(world.kata_group), "1");
}

}  // namespace
}  // namespace kcg::test
