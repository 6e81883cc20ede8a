// SPDX-License-Identifier: Apache-2.0
#include "support/fake_systemd.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace kcg::test {

namespace {

using Units = std::vector<std::string>;

class FakeSystemdTest : public ::testing::Test {
 protected:
  FakeSystemdTest() { tree_.add_process(10, {11}); }
  [[nodiscard]] Status start() {
    return systemd_.start_scope({unit_, "kubepods-podx.slice", {10, 1}, {{"memory.max", "8192"}}});
  }
  FakeTree tree_{fake_host_v2()};
  FakeSystemd systemd_{tree_};
  const std::string unit_ = "kata-sandbox-s.scope";
  const std::string path_ = "/kubepods.slice/kubepods-podx.slice/kata-sandbox-s.scope";
};

TEST_F(FakeSystemdTest, AScopeExistsWhenItsJobHasEnded) {
  ASSERT_TRUE(start());
  EXPECT_TRUE(tree_.groups("v2").empty());
  EXPECT_EQ(systemd_.finish_jobs(), Units{unit_});
  EXPECT_EQ(tree_.group_of(11, "v2"), path_);
  const GroupRef scope{"v2", CgroupPath::parse(path_).value()};
  EXPECT_EQ(tree_.read(scope, "memory.max").value(), "8192");
  EXPECT_EQ(tree_.read(scope, "cgroup.controllers").value(), "cpuset cpu io memory pids");
  EXPECT_TRUE(tree_.log().empty()) << "systemd's writes are not ours";
}

TEST_F(FakeSystemdTest, WritesWhatItsPropertiesMean) {
  ASSERT_TRUE(start());
  (void)systemd_.finish_jobs();
  const GroupRef scope{"v2", CgroupPath::parse(path_).value()};
  ASSERT_TRUE(systemd_.set_limits(unit_, {{"cpu.max", "12345 100000"}, {"cpuset.cpus", "1-2"}}));
  EXPECT_EQ(tree_.read(scope, "cpu.max").value(), "max 100000") << "not yet";
  EXPECT_EQ(systemd_.finish_jobs(), Units{unit_});
  EXPECT_EQ(tree_.read(scope, "cpu.max").value(), "13000 100000") << "whole per cents";
  EXPECT_EQ(tree_.read(scope, "cpuset.cpus").value(), "1-2");
}

TEST(FakeUnit, RefusesWhatSystemdDoesNotKnow) {
  FakeUnit unit;
  EXPECT_EQ(unit.set({{"CpuQuota", std::uint64_t{1}}}).error().code, EINVAL) << "no such property";
  EXPECT_EQ(unit.set({{"AllowedCPUs", std::uint64_t{1}}}).error().code, EINVAL) << "a mask";
  EXPECT_EQ(
      unit.set({{"MemoryMax", std::uint64_t{1}}, {"MemoryMax", std::uint64_t{2}}}).error().code,
      EINVAL);
  EXPECT_TRUE(unit.files({"v2", {"memory"}, true, ""}).empty()) << "all or none";
}

TEST_F(FakeSystemdTest, AFailedJobLeavesNothing) {
  ASSERT_TRUE(start());
  EXPECT_EQ(systemd_.fail_jobs(), Units{unit_});
  EXPECT_EQ(systemd_.finish_jobs(), Units{});
  EXPECT_TRUE(tree_.groups("v2").empty());
}

TEST_F(FakeSystemdTest, AScopeThatRunsEmptyIsRemovedWithItsChildren) {
  ASSERT_TRUE(start());
  (void)systemd_.finish_jobs();
  tree_.make_all("v2", path_ + "/vmm");
  systemd_.collect_empty_scopes();
  EXPECT_EQ(tree_.group_of(10, "v2"), path_);
  tree_.exit_process(10);
  systemd_.collect_empty_scopes();
  EXPECT_EQ(tree_.groups("v2"), (Units{"/kubepods.slice", "/kubepods.slice/kubepods-podx.slice"}));
}

TEST_F(FakeSystemdTest, RefusesWhatSystemdRefuses) {
  ASSERT_TRUE(start());
  (void)systemd_.finish_jobs();
  EXPECT_EQ(start().error().code, EEXIST);
  EXPECT_EQ(systemd_.set_limits("none.scope", {}).error().code, ENOENT);
  const WantedFile no_property{"memory.memsw.limit_in_bytes", "8192"};
  EXPECT_EQ(systemd_.set_limits(unit_, {no_property}).error().code, EOPNOTSUPP);
  EXPECT_EQ(systemd_.start_scope({"b.scope", "x.slice", {10, 1}, {no_property}}).error().code,
            EOPNOTSUPP);
  systemd_.fail_calls(ETIMEDOUT);
  EXPECT_EQ(systemd_.set_limits(unit_, {}).error().code, ETIMEDOUT);
}

}  // namespace

}  // namespace kcg::test
