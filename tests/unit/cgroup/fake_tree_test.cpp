// SPDX-License-Identifier: Apache-2.0
//
// What FakeTree offers beyond the kernel; what it shares with the kernel is tests/contract.
#include "support/fake_tree.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace kcg::test {

namespace {

GroupRef at(const std::string& hierarchy, const std::string& path) {
  return {hierarchy, CgroupPath::parse(path).value()};
}

TEST(FakeTree, TheChosenOperationFailsAndNoOther) {
  FakeTree tree(fake_host_v2());
  tree.fail_operation(2, ENOMEM);
  EXPECT_TRUE(tree.make(at("v2", "/a")));
  EXPECT_EQ(tree.make(at("v2", "/b")).error().code, ENOMEM);
  EXPECT_TRUE(tree.make(at("v2", "/b")));
  EXPECT_EQ(tree.groups("v2"), (std::vector<std::string>{"/a", "/b"}));
}

TEST(FakeTree, TheLogHoldsWhatWasTriedAndItsOutcome) {
  FakeTree tree(fake_host_v2());
  EXPECT_TRUE(tree.make(at("v2", "/a")));
  EXPECT_TRUE(tree.set_mark(at("v2", "/a"), "s"));
  EXPECT_FALSE(tree.write(at("v2", "/a"), "memory.max", "5"));
  std::vector<std::string> log;
  for (const auto& one : tree.log()) log.push_back(describe(one));
  EXPECT_EQ(log, (std::vector<std::string>{"'v2:/a' mkdir", "'v2:/a' trusted.kata-cgroupd=s",
                                           "'v2:/a' memory.max=5 -> No such file or directory"}));
}

TEST(FakeTree, TheWorldOutsideIsNeitherLoggedNorFailed) {
  FakeTree tree(fake_host_v2());
  tree.fail_operation(1, EIO);
  tree.outside([](CgroupTree& outside) { EXPECT_TRUE(outside.make(at("v2", "/a"))); });
  EXPECT_TRUE(tree.log().empty());
  EXPECT_EQ(tree.make(at("v2", "/b")).error().code, EIO);
}

TEST(FakeTree, AHookMayFailAnOperationOrChangeTheTasks) {
  FakeTree tree(fake_host_v1());
  tree.add_process(10, {11});
  tree.make_all("cpu", "/a");
  tree.on_operation([&](const FakeWrite& write) {
    if (write.text == "11") tree.exit_process(10);
    return write.kind == FakeWrite::Kind::remove ? EACCES : 0;
  });
  EXPECT_EQ(tree.write(at("cpu", "/a"), "tasks", "11").error().code, ESRCH);
  EXPECT_EQ(tree.remove(at("cpu", "/a")).error().code, EACCES);
}

TEST(FakeTree, ThreadsAreBornWhereTheirCreatorIs) {
  FakeTree tree(fake_host_v1());
  tree.add_process(10, {11});
  tree.make_all("cpu", "/a");
  EXPECT_TRUE(tree.write(at("cpu", "/a"), "tasks", "11"));
  tree.spawn_thread(10, 12);
  tree.spawn_thread(10, 13, 11);
  tree.fork_process(11, 20);
  EXPECT_EQ(tree.group_of(12, "cpu"), "/");
  EXPECT_EQ(tree.group_of(13, "cpu"), "/a");
  EXPECT_EQ(tree.group_of(20, "cpu"), "/a");
  EXPECT_EQ(tree.group_of(20, "memory"), "/");
  EXPECT_EQ(tree.threads_of(10), (std::vector<Pid>{10, 11, 12, 13}));
  tree.exit_process(10);
  EXPECT_EQ(tree.group_of(13, "cpu"), "");
  EXPECT_EQ(tree.read(at("cpu", "/a"), "tasks").value(), "20");
}

TEST(FakeTree, AFormingTaskIsEINVAL) {
  FakeTree tree(fake_host_v2());
  tree.add_process(10);
  tree.make_all("v2", "/a");
  tree.set_forming(10, true);
  EXPECT_EQ(tree.write(at("v2", "/a"), "cgroup.procs", "10").error().code, EINVAL);
  tree.set_forming(10, false);
  EXPECT_TRUE(tree.write(at("v2", "/a"), "cgroup.procs", "10"));
}

TEST(FakeTree, UsageAboveAV1LimitIsBusy) {
  FakeTree tree(fake_host_v1());
  tree.make_all("memory", "/a");
  tree.set_file(at("memory", "/a"), "memory.usage_in_bytes", "8192");
  EXPECT_EQ(tree.write(at("memory", "/a"), "memory.limit_in_bytes", "4096").error().code, EBUSY);
  EXPECT_TRUE(tree.write(at("memory", "/a"), "memory.limit_in_bytes", "8192"));
}

}  // namespace

}  // namespace kcg::test
