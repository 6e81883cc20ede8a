// SPDX-License-Identifier: Apache-2.0
//
// Threads and control files of the v1 controllers.
#include <limits>

#include "contract/fixture.hpp"

namespace kcg::test {

namespace {

class V1 : public Contract {};

TEST_P(V1, TasksMovesOneThread) {
  const auto cpu = with("cpu");
  make(at(cpu, "a"));
  make(at(cpu, "b"));
  const auto process = world_->spawn(3);
  EXPECT_EQ(move(process.pid, at(cpu, "a"), "cgroup.procs"), 0);
  EXPECT_EQ(move(process.tids[2], at(cpu, "b"), "tasks"), 0);
  EXPECT_EQ(world_->group_of(process.tids[1], cpu), at(cpu, "a").path.str());
  EXPECT_EQ(world_->group_of(process.tids[2], cpu), at(cpu, "b").path.str());
  EXPECT_EQ(read(at(cpu, "b"), "tasks"), std::to_string(process.tids[2]));
  // A process shows in cgroup.procs wherever one of its threads is.
  EXPECT_EQ(read(at(cpu, "b"), "cgroup.procs"), std::to_string(process.pid));
  EXPECT_EQ(read(at(cpu, "a"), "cgroup.procs"), std::to_string(process.pid));
}

TEST_P(V1, AnEmptyCpusetTakesNobody) {
  const auto set = with("cpuset");
  ASSERT_EQ(write(at(set, ""), "cpuset.cpus", "0"), 0);
  ASSERT_EQ(write(at(set, ""), "cpuset.mems", "0"), 0);
  make(at(set, "a"));
  const auto a = at(set, "a");
  EXPECT_EQ(read(a, "cpuset.cpus"), "");
  const auto process = world_->spawn(2);
  EXPECT_EQ(move(process.pid, a, "cgroup.procs"), ENOSPC);
  EXPECT_EQ(write(a, "cpuset.cpus", "0"), 0);
  EXPECT_EQ(move(process.tids[1], a, "tasks"), ENOSPC);
  EXPECT_EQ(write(a, "cpuset.mems", "0"), 0);
  EXPECT_EQ(move(process.tids[1], a, "tasks"), 0);
  EXPECT_EQ(move(process.pid, a, "cgroup.procs"), 0);
  EXPECT_EQ(write(a, "cpuset.cpus", ""), ENOSPC);
  EXPECT_EQ(write(a, "cpuset.mems", ""), ENOSPC);
}

TEST_P(V1, CpusetsNestLikeDirectories) {
  const auto set = with("cpuset");
  ASSERT_EQ(write(at(set, ""), "cpuset.cpus", "0-1"), 0);
  make(at(set, "a"));
  EXPECT_EQ(write(at(set, "a"), "cpuset.cpus", "1,0"), 0);
  EXPECT_EQ(read(at(set, "a"), "cpuset.cpus"), "0-1");
  EXPECT_EQ(read(at(set, "a"), "cpuset.effective_cpus"), "0-1");
  EXPECT_EQ(write(at(set, ""), "cpuset.cpus", "0"), EBUSY);
  EXPECT_EQ(write(at(set, "a"), "cpuset.cpus", "0"), 0);
  EXPECT_EQ(write(at(set, ""), "cpuset.cpus", "0"), 0);
  EXPECT_EQ(write(at(set, "a"), "cpuset.cpus", "0-1"), EACCES);
  EXPECT_EQ(write(at(set, "a"), "cpuset.cpus", "x"), EINVAL);
  EXPECT_EQ(write(at(set, "a"), "cpuset.cpus", "1-0"), EINVAL);
  EXPECT_EQ(write(at(set, "a"), "cpuset.cpus", "9999"), ERANGE);
  EXPECT_EQ(write(at(set, "a"), "cpuset.cpus", ""), 0);
  EXPECT_EQ(read(at(set, "a"), "cpuset.cpus"), "");
}

TEST_P(V1, QuotasFitIntoTheirAncestors) {
  const auto cpu = with("cpu");
  make(at(cpu, "a"));
  make(at(cpu, "a/b"));
  const auto quota = [&](const std::string& name, const std::string& value) {
    return write(at(cpu, name), "cpu.cfs_quota_us", value);
  };
  EXPECT_EQ(read(at(cpu, "a"), "cpu.cfs_quota_us"), "-1");
  EXPECT_EQ(read(at(cpu, "a"), "cpu.cfs_period_us"), "100000");
  EXPECT_EQ(quota("a", "50000"), 0);
  EXPECT_EQ(quota("a/b", "50001"), EINVAL);
  EXPECT_EQ(quota("a/b", "50000"), 0);
  EXPECT_EQ(quota("a", "49999"), EINVAL);
  EXPECT_EQ(write(at(cpu, "a/b"), "cpu.cfs_period_us", "90000"), EINVAL);
  EXPECT_EQ(quota("a/b", "-1"), 0);
  EXPECT_EQ(quota("a", "49999"), 0);
  EXPECT_EQ(quota("a", "999"), EINVAL);
  EXPECT_EQ(quota("a", "x"), EINVAL);
  EXPECT_EQ(quota("a", "-7"), 0);
  EXPECT_EQ(read(at(cpu, "a"), "cpu.cfs_quota_us"), "-1");
  EXPECT_EQ(write(at(cpu, "a"), "cpu.cfs_period_us", "999"), EINVAL);
  EXPECT_EQ(write(at(cpu, "a"), "cpu.cfs_period_us", "1000001"), EINVAL);
}

TEST_P(V1, SharesAreClamped) {
  const auto cpu = with("cpu");
  make(at(cpu, "a"));
  const auto a = at(cpu, "a");
  EXPECT_EQ(read(a, "cpu.shares"), "1024");
  EXPECT_EQ(write(a, "cpu.shares", "0"), 0);
  EXPECT_EQ(read(a, "cpu.shares"), "2");
  EXPECT_EQ(write(a, "cpu.shares", "300000"), 0);
  EXPECT_EQ(read(a, "cpu.shares"), "262144");
  EXPECT_EQ(write(a, "cpu.shares", "-1"), EINVAL);
}

TEST_P(V1, MemoryLimitsAreWholePages) {
  const auto memory = with("memory");
  make(at(memory, "a"));
  const auto a = at(memory, "a");
  const std::string file = "memory.limit_in_bytes";
  EXPECT_EQ(read(a, file), "9223372036854771712");
  EXPECT_EQ(write(a, file, "1048577"), 0);
  EXPECT_EQ(read(a, file), "1048576");
  EXPECT_EQ(write(a, file, "max"), EINVAL);
  EXPECT_EQ(write(a, file, "-2"), EINVAL);
  EXPECT_EQ(write(a, file, "-1"), 0);
  EXPECT_EQ(read(a, file), "9223372036854771712");
}

TEST_P(V1, MemoryStaysBelowMemoryPlusSwap) {
  const auto memory = with("memory");
  make(at(memory, "a"));
  const auto a = at(memory, "a");
  if (!tree().read(a, "memory.memsw.limit_in_bytes"))
    GTEST_SKIP() << "this kernel does not account for swap";
  EXPECT_EQ(write(a, "memory.memsw.limit_in_bytes", "1048576"), EINVAL);
  EXPECT_EQ(write(a, "memory.limit_in_bytes", "524288"), 0);
  EXPECT_EQ(write(a, "memory.memsw.limit_in_bytes", "1048576"), 0);
  EXPECT_EQ(write(a, "memory.limit_in_bytes", "2097152"), EINVAL);
}

TEST_P(V1, PidsAreCounted) {
  const auto pids = with("pids");
  make(at(pids, "a"));
  const auto a = at(pids, "a");
  EXPECT_EQ(read(a, "pids.max"), "max");
  EXPECT_EQ(write(a, "pids.max", "-1"), EINVAL);
  EXPECT_EQ(write(a, "pids.max", "4194305"), EINVAL);
  EXPECT_EQ(write(a, "pids.max", "1"), 0);
  EXPECT_EQ(read(a, "pids.max"), "1");
  const auto process = world_->spawn(3);  // moving in is not limited, only forking is
  EXPECT_EQ(move(process.pid, a, "cgroup.procs"), 0);
  EXPECT_EQ(read(a, "pids.current"), "3");
  EXPECT_EQ(code(tree().read({pids, {}}, "pids.max")), ENOENT);
}

INSTANTIATE_TEST_SUITE_P(V1, V1, ::testing::ValuesIn(worlds(false, "cpuset")), kind_name);

}  // namespace

}  // namespace kcg::test
