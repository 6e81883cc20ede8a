// SPDX-License-Identifier: Apache-2.0
//
// Domains, threaded groups and subtree_control on cgroup v2.
#include <algorithm>
#include <set>

#include "contract/fixture.hpp"

namespace kcg::test {

namespace {

class Unified : public Contract {
 protected:
  const std::string h_ = "v2";
  void make_threaded(const std::string& name) {
    make(at(h_, name));
    ASSERT_EQ(write(at(h_, name), "cgroup.type", "threaded"), 0);
  }
  [[nodiscard]] std::string type(const std::string& name) {
    return read(at(h_, name), "cgroup.type");
  }
};
class UnifiedDomain : public Unified {};    ///< with a domain controller
class UnifiedThreaded : public Unified {};  ///< with a threaded controller

TEST_P(Unified, TheRootHasNeitherTypeNorEvents) {
  EXPECT_EQ(code(tree().read({h_, {}}, "cgroup.type")), ENOENT);
  EXPECT_EQ(code(tree().read({h_, {}}, "cgroup.events")), ENOENT);
}

TEST_P(Unified, ANewGroupIsAnEmptyDomain) {
  make(at(h_, "a"));
  EXPECT_EQ(type("a"), "domain");
  EXPECT_EQ(read(at(h_, "a"), "cgroup.events"), "populated 0\nfrozen 0");
  EXPECT_EQ(read(at(h_, "a"), "cgroup.max.descendants"), "max");
  EXPECT_EQ(read(at(h_, "a"), "cgroup.subtree_control"), "");
}

TEST_P(Unified, PopulatedReachesTheParents) {
  make(at(h_, "a"));
  make(at(h_, "a/b"));
  const auto process = world_->spawn(1);
  EXPECT_EQ(move(process.pid, at(h_, "a/b"), "cgroup.procs"), 0);
  EXPECT_EQ(read(at(h_, "a"), "cgroup.events"), "populated 1\nfrozen 0");
  EXPECT_EQ(read(at(h_, "a"), "cgroup.procs"), "");
}

TEST_P(Unified, TypesFollowTheFirstThreadedChild) {
  make(at(h_, "a"));
  make(at(h_, "a/x"));
  make(at(h_, "a/y"));
  EXPECT_EQ(write(at(h_, "a/x"), "cgroup.type", "domain"), EINVAL);
  EXPECT_EQ(write(at(h_, "a/x"), "cgroup.type", "threaded"), 0);
  EXPECT_EQ(write(at(h_, "a/x"), "cgroup.type", "threaded"), 0);
  EXPECT_EQ(write(at(h_, "a/x"), "cgroup.type", "domain"), EINVAL);
  EXPECT_EQ(type("a"), "domain threaded");
  EXPECT_EQ(type("a/x"), "threaded");
  EXPECT_EQ(type("a/y"), "domain invalid");
  const auto process = world_->spawn(1);
  EXPECT_EQ(move(process.pid, at(h_, "a/y"), "cgroup.procs"), EOPNOTSUPP);
  EXPECT_EQ(write(at(h_, "a/y"), "cgroup.type", "threaded"), 0);
  EXPECT_EQ(move(process.pid, at(h_, "a/y"), "cgroup.procs"), 0);
}

TEST_P(Unified, ThreadsAreSeenEachWhereItIs) {
  make(at(h_, "a"));
  make_threaded("a/x");
  make_threaded("a/y");
  const auto process = world_->spawn(4);
  EXPECT_EQ(move(process.pid, at(h_, "a"), "cgroup.procs"), 0);
  const auto all_seen = [&] {
    const auto& host = tree().host();
    const auto threads = world_->proc().threads(process.pid, host, 4).value();
    return threads.size() == 4U &&
           std::all_of(threads.begin(), threads.end(), [&](const ThreadFacts& thread) {
             return thread.groups == world_->proc().groups(thread.key.pid, host).value();
           });
  };
  EXPECT_TRUE(all_seen());
  EXPECT_EQ(move(process.tids[1], at(h_, "a/x"), "cgroup.threads"), 0);
  EXPECT_EQ(move(process.tids[2], at(h_, "a/y"), "cgroup.threads"), 0);
  EXPECT_TRUE(all_seen()) << "the leader is above them";
  EXPECT_EQ(move(process.pid, at(h_, "a/y"), "cgroup.threads"), 0);
  EXPECT_TRUE(all_seen()) << "the leader is among them";
}

TEST_P(Unified, AChildOfAThreadedGroupMustBeThreadedToo) {
  make(at(h_, "a"));
  make_threaded("a/x");
  make(at(h_, "a/x/y"));
  EXPECT_EQ(type("a/x/y"), "domain invalid");
  EXPECT_EQ(write(at(h_, "a/x/y"), "cgroup.type", "threaded"), 0);
  EXPECT_EQ(type("a/x/y"), "threaded");
}

TEST_P(Unified, APopulatedGroupDoesNotChangeItsType) {
  make(at(h_, "a"));
  make(at(h_, "a/x"));
  const auto process = world_->spawn(1);
  EXPECT_EQ(move(process.pid, at(h_, "a/x"), "cgroup.procs"), 0);
  EXPECT_EQ(write(at(h_, "a/x"), "cgroup.type", "threaded"), EOPNOTSUPP);
}

TEST_P(Unified, NotEvenBelowTheRootThatMixesEverything) {
  const auto process = world_->spawn(1);
  EXPECT_EQ(move(process.pid, at(h_, ""), "cgroup.procs"), 0);
  EXPECT_EQ(write(at(h_, ""), "cgroup.type", "threaded"), EOPNOTSUPP);
}

TEST_P(Unified, APopulatedDomainBesideItForbidsThreads) {
  make(at(h_, "a"));
  make(at(h_, "a/x"));
  make(at(h_, "a/y"));
  const auto process = world_->spawn(1);
  EXPECT_EQ(move(process.pid, at(h_, "a/y"), "cgroup.procs"), 0);
  EXPECT_EQ(write(at(h_, "a/x"), "cgroup.type", "threaded"), EOPNOTSUPP);
}

TEST_P(Unified, APopulatedParentAllowsThreadedChildren) {
  make(at(h_, "a"));
  const auto process = world_->spawn(2);
  EXPECT_EQ(move(process.pid, at(h_, "a"), "cgroup.procs"), 0);
  make_threaded("a/x");
  make_threaded("a/y");
  EXPECT_EQ(type("a"), "domain threaded");
  EXPECT_EQ(move(process.tids[1], at(h_, "a/x"), "cgroup.threads"), 0);
  EXPECT_EQ(world_->group_of(process.tids[0], h_), at(h_, "a").path.str());
  EXPECT_EQ(world_->group_of(process.tids[1], h_), at(h_, "a/x").path.str());
}

TEST_P(Unified, ThreadsMoveWithinTheirDomainOnly) {
  make(at(h_, "a"));
  make(at(h_, "other"));
  make_threaded("a/x");
  const auto process = world_->spawn(2);
  EXPECT_EQ(move(process.tids[1], at(h_, "a/x"), "cgroup.threads"), EOPNOTSUPP);
  EXPECT_EQ(move(process.pid, at(h_, "a/x"), "cgroup.procs"), 0);
  EXPECT_EQ(move(process.tids[1], at(h_, "a"), "cgroup.threads"), 0);
  EXPECT_EQ(move(process.tids[1], at(h_, "other"), "cgroup.threads"), EOPNOTSUPP);
  EXPECT_EQ(move(process.tids[1], at(h_, "other"), "cgroup.procs"), 0);
  EXPECT_EQ(world_->group_of(process.tids[0], h_), at(h_, "other").path.str());
}

TEST_P(Unified, ProcessesOfAThreadedSubtreeShowAtItsDomain) {
  make(at(h_, "a"));
  make_threaded("a/x");
  const auto process = world_->spawn(2);
  EXPECT_EQ(read(at(h_, "a/x"), "cgroup.procs"), "<Operation not supported>");
  EXPECT_EQ(move(process.pid, at(h_, "a/x"), "cgroup.procs"), 0);
  EXPECT_EQ(read(at(h_, "a/x"), "cgroup.procs"), "<Operation not supported>");
  EXPECT_EQ(read(at(h_, "a"), "cgroup.procs"), std::to_string(process.pid));
  EXPECT_EQ(read(at(h_, "a"), "cgroup.threads"), "");
  std::set<std::string> tids;
  const std::string listed = read(at(h_, "a/x"), "cgroup.threads");
  EXPECT_NE(listed.find(std::to_string(process.tids[0])), std::string::npos);
  EXPECT_NE(listed.find(std::to_string(process.tids[1])), std::string::npos);
}

TEST_P(Unified, DescendantsAreLimited) {
  make(at(h_, "a"));
  EXPECT_EQ(write(at(h_, "a"), "cgroup.max.descendants", "1"), 0);
  EXPECT_EQ(code(tree().make(at(h_, "a/x"))), 0);
  EXPECT_EQ(code(tree().make(at(h_, "a/y"))), EAGAIN);
  EXPECT_EQ(code(tree().make(at(h_, "a/x/z"))), EAGAIN);
}

TEST_P(Unified, ControllersThatAreNotOffered) {
  make(at(h_, "a"));
  EXPECT_EQ(write(at(h_, "a"), "cgroup.subtree_control", "+nonsense"), EINVAL);
  EXPECT_EQ(write(at(h_, "a"), "cgroup.subtree_control", "memory"), EINVAL);
  EXPECT_EQ(write(at(h_, "a"), "cgroup.subtree_control", "+memory"), ENOENT);
  EXPECT_EQ(write(at(h_, "a"), "cgroup.subtree_control", "-memory"), 0);
}

TEST_P(UnifiedDomain, NoProcessesBesideDomainControllers) {
  EXPECT_EQ(write(at(h_, ""), "cgroup.subtree_control", "+memory"), 0);
  EXPECT_EQ(write(at(h_, ""), "cgroup.subtree_control", "+memory"), 0);
  make(at(h_, "a"));
  make(at(h_, "a/x"));
  EXPECT_EQ(read(at(h_, "a"), "cgroup.controllers"), "memory");
  const auto process = world_->spawn(1);
  EXPECT_EQ(write(at(h_, "a"), "cgroup.subtree_control", "+memory"), 0);
  EXPECT_EQ(move(process.pid, at(h_, "a"), "cgroup.procs"), EBUSY);
  EXPECT_EQ(write(at(h_, ""), "cgroup.subtree_control", "-memory"), EBUSY);
  EXPECT_EQ(write(at(h_, "a"), "cgroup.subtree_control", "-memory"), 0);
  EXPECT_EQ(move(process.pid, at(h_, "a"), "cgroup.procs"), 0);
  EXPECT_EQ(write(at(h_, "a"), "cgroup.subtree_control", "+memory"), EBUSY);
}

TEST_P(UnifiedDomain, ThreadedSubtreesAndDomainControllersExclude) {
  EXPECT_EQ(write(at(h_, ""), "cgroup.subtree_control", "+memory"), 0);
  make(at(h_, "a"));
  EXPECT_EQ(write(at(h_, "a"), "cgroup.subtree_control", "+memory"), 0);
  make(at(h_, "a/x"));
  EXPECT_EQ(write(at(h_, "a/x"), "cgroup.type", "threaded"), EOPNOTSUPP);
  EXPECT_EQ(write(at(h_, "a"), "cgroup.subtree_control", "-memory"), 0);
  EXPECT_EQ(write(at(h_, "a/x"), "cgroup.type", "threaded"), 0);
  EXPECT_EQ(write(at(h_, "a"), "cgroup.subtree_control", "+memory"), EOPNOTSUPP);
  EXPECT_EQ(write(at(h_, "a/x"), "cgroup.subtree_control", "+memory"), ENOENT);
}

TEST_P(UnifiedDomain, MemoryLimitsAreWholePages) {
  EXPECT_EQ(write(at(h_, ""), "cgroup.subtree_control", "+memory"), 0);
  make(at(h_, "a"));
  EXPECT_EQ(read(at(h_, "a"), "memory.max"), "max");
  EXPECT_EQ(write(at(h_, "a"), "memory.max", "1048577"), 0);
  EXPECT_EQ(read(at(h_, "a"), "memory.max"), "1048576");
  EXPECT_EQ(write(at(h_, "a"), "memory.max", "-1"), EINVAL);
  EXPECT_EQ(write(at(h_, "a"), "memory.max", "max"), 0);
  EXPECT_EQ(read(at(h_, "a"), "memory.max"), "max");
}

TEST_P(UnifiedThreaded, ThreadedControllersStandAboveThreads) {
  EXPECT_EQ(write(at(h_, ""), "cgroup.subtree_control", "+cpu +cpuset +pids"), 0);
  make(at(h_, "a"));
  make_threaded("a/x");
  const auto process = world_->spawn(1);
  EXPECT_EQ(write(at(h_, "a"), "cgroup.subtree_control", "+cpu +cpuset +pids"), 0);
  for (const auto& [group, above] : {std::pair{"a/x", "a"}, {"a", ""}})
    EXPECT_EQ(read(at(h_, group), "cgroup.controllers"),
              read(at(h_, above), "cgroup.subtree_control"));
  EXPECT_EQ(move(process.pid, at(h_, "a"), "cgroup.procs"), 0);
  EXPECT_EQ(move(process.pid, at(h_, "a/x"), "cgroup.threads"), 0);
  EXPECT_EQ(write(at(h_, "a/x"), "cpu.weight", "200"), 0);
  EXPECT_EQ(read(at(h_, "a/x"), "cpu.weight"), "200");
}

TEST_P(UnifiedThreaded, EnablingAboveAPopulatedDomainChildIsBusy) {
  EXPECT_EQ(write(at(h_, ""), "cgroup.subtree_control", "+cpu"), 0);
  make(at(h_, "a"));
  make(at(h_, "a/x"));
  const auto inner = world_->spawn(1);
  const auto outer = world_->spawn(1);
  EXPECT_EQ(move(inner.pid, at(h_, "a/x"), "cgroup.procs"), 0);
  EXPECT_EQ(move(outer.pid, at(h_, "a"), "cgroup.procs"), 0);
  EXPECT_EQ(write(at(h_, "a"), "cgroup.subtree_control", "+cpu"), EBUSY);
}

TEST_P(UnifiedThreaded, CpuFilesReadAsTheKernelWritesThem) {
  EXPECT_EQ(write(at(h_, ""), "cgroup.subtree_control", "+cpu +cpuset +pids"), 0);
  make(at(h_, "a"));
  const auto a = at(h_, "a");
  EXPECT_EQ(read(a, "cpu.max"), "max 100000");
  EXPECT_EQ(write(a, "cpu.max", "150000"), 0);
  EXPECT_EQ(read(a, "cpu.max"), "150000 100000");
  EXPECT_EQ(write(a, "cpu.max", "25000 50000"), 0);
  EXPECT_EQ(write(a, "cpu.max", "max"), 0);
  EXPECT_EQ(read(a, "cpu.max"), "max 50000");
  EXPECT_EQ(write(a, "cpu.max", "999 100000"), EINVAL);
  EXPECT_EQ(write(a, "cpu.max", "-1 100000"), EINVAL);
  EXPECT_EQ(read(a, "cpu.weight"), "100");
  EXPECT_EQ(write(a, "cpu.weight", "10001"), ERANGE);
  EXPECT_EQ(write(a, "cpu.weight", "0"), ERANGE);
  EXPECT_EQ(read(a, "pids.max"), "max");
  EXPECT_EQ(write(a, "cpuset.cpus", "0"), 0);
  EXPECT_EQ(read(a, "cpuset.cpus"), "0");
  EXPECT_EQ(read(a, "cpuset.cpus.effective"), "0");
  EXPECT_EQ(write(a, "cpuset.cpus", ""), 0);
  EXPECT_EQ(read(a, "cpuset.cpus"), "");
}

INSTANTIATE_TEST_SUITE_P(V2, Unified, ::testing::ValuesIn(worlds(true)), kind_name);
INSTANTIATE_TEST_SUITE_P(V2, UnifiedDomain, ::testing::ValuesIn(worlds(true, "memory")), kind_name);
INSTANTIATE_TEST_SUITE_P(V2, UnifiedThreaded, ::testing::ValuesIn(worlds(true, "cpu")), kind_name);

}  // namespace

}  // namespace kcg::test
