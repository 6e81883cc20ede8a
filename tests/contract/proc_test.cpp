// SPDX-License-Identifier: Apache-2.0
//
// What ProcView says of real and of made-up processes.
#include <algorithm>
#include <tuple>

#include "contract/fixture.hpp"

namespace kcg::test {

namespace {

class Tasks : public Contract {
 protected:
  [[nodiscard]] ProcView& proc() { return world_->proc(); }
  [[nodiscard]] Result<std::vector<ThreadFacts>> threads(Pid pid, std::size_t max = 100) {
    return proc().threads(pid, tree().host(), max);
  }
};

TEST_P(Tasks, AreListedByProcess) {
  const auto process = world_->spawn(2);
  const auto pids = proc().pids().value();
  EXPECT_TRUE(std::is_sorted(pids.begin(), pids.end()));
  EXPECT_EQ(std::count(pids.begin(), pids.end(), process.pid), 1);
  EXPECT_EQ(std::count(pids.begin(), pids.end(), process.tids[1]), 0);
}

TEST_P(Tasks, HaveAStatEachThreadsIncluded) {
  const auto process = world_->spawn(2);
  const auto leader = proc().stat(process.pid).value();
  const auto thread = proc().stat(process.tids[1]).value();
  EXPECT_EQ(leader.key.pid, process.pid);
  EXPECT_EQ(leader.ppid, world_->parent());
  EXPECT_EQ(leader.comm, "contract");
  EXPECT_EQ(thread.key.pid, process.tids[1]);
  EXPECT_EQ(thread.ppid, world_->parent());
  EXPECT_GE(thread.key.start, leader.key.start);
}

TEST_P(Tasks, HaveFactsThatAgreeWithTheirStat) {
  const auto process = world_->spawn(1);
  const auto facts = proc().facts(process.pid).value();
  const auto stat = proc().stat(process.pid).value();
  EXPECT_EQ(facts.key, stat.key);
  EXPECT_EQ(facts.ppid, stat.ppid);
  EXPECT_EQ(facts.comm, stat.comm);
  EXPECT_EQ(facts.real_uid, 0U);
  EXPECT_TRUE(facts.same_pid_ns && facts.same_user_ns && facts.same_root);
  EXPECT_FALSE(facts.kernel_thread);
  EXPECT_FALSE(facts.args.empty());
}

TEST_P(Tasks, AreChildrenOfTheirParent) {
  const auto one = world_->spawn(2);
  const auto two = world_->spawn(1);
  const auto children = proc().children(world_->parent()).value();
  EXPECT_EQ(std::count(children.begin(), children.end(), one.pid), 1);
  EXPECT_EQ(std::count(children.begin(), children.end(), two.pid), 1);
  EXPECT_EQ(std::count(children.begin(), children.end(), one.tids[1]), 0);
  EXPECT_TRUE(proc().children(one.pid)->empty());
}

TEST_P(Tasks, ShowWhereTheyWereMoved) {
  const auto process = world_->spawn(3);
  const auto& hierarchies = tree().host().hierarchies;
  const auto where = std::find_if(hierarchies.begin(), hierarchies.end(), [](const Hierarchy& h) {
    return h.unified || !h.has("cpuset");  // an empty v1 cpuset would refuse
  });
  ASSERT_NE(where, hierarchies.end());
  const auto index = static_cast<std::size_t>(where - hierarchies.begin());
  make(at(where->name, "a"));
  EXPECT_EQ(move(process.pid, at(where->name, "a"), "cgroup.procs"), 0);
  const auto found = threads(process.pid).value();
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].key, proc().stat(process.pid)->key);
  for (const auto& thread : found) {
    ASSERT_EQ(thread.groups.size(), hierarchies.size());
    EXPECT_EQ(thread.groups[index], at(where->name, "a").path.str());
    EXPECT_EQ(thread.groups, proc().groups(thread.key.pid, tree().host()).value());
    EXPECT_EQ(thread.comm, "contract");
  }
}

TEST_P(Tasks, AreSeenAsTheyAreNow) {
  const auto process = world_->spawn(2);
  // But whether it runs at this moment.
  const auto who = [](const Result<TaskStat>& stat) {
    return std::tuple(stat.value().key, stat->ppid, stat->comm);
  };
  const auto before = who(proc().thread_stat(process.pid, process.tids[1]));
  EXPECT_EQ(before, who(proc().thread_stat(process.pid, process.tids[1])));
  EXPECT_EQ(before, who(proc().stat(process.tids[1])));
  const auto leader = who(proc().thread_stat(process.pid, process.pid));
  EXPECT_EQ(std::get<TaskKey>(leader).pid, process.pid);
  EXPECT_EQ(before, who(proc().thread_stat(process.pid, process.tids[1])));
  EXPECT_EQ(leader, who(proc().stat(process.pid)));
  EXPECT_EQ(code(proc().thread_stat(world_->parent(), process.tids[1])), ESRCH);
}

/// Others are born on a real node, but not all the time.
TEST_P(Tasks, ThatWereBornLastAreTold) {
  ASSERT_TRUE(proc().last_born());
  bool quiet = false;
  for (int i = 0; i < 10'000 && !quiet; ++i) quiet = proc().last_born() == proc().last_born();
  EXPECT_TRUE(quiet);
  bool told = false;
  for (int i = 0; i < 100 && !told; ++i) {
    const auto before = *proc().last_born();
    const auto process = world_->spawn(2);
    const auto all = {process.pid, process.tids[1]};
    told = proc().last_born() == std::max(all) && before + 2 == std::max(all);
  }
  EXPECT_TRUE(told) << "one after the other, the last one of them";
}

TEST_P(Tasks, AreBounded) {
  const auto process = world_->spawn(3);
  EXPECT_EQ(code(threads(process.pid, 2)), EOVERFLOW);
  EXPECT_EQ(code(threads(process.pid, 3)), 0);
}

TEST_P(Tasks, ThatEndedAreESRCH) {
  const auto process = world_->spawn(2);
  EXPECT_EQ(code(proc().stat(process.pid)), 0);
  world_->end(process);
  EXPECT_EQ(code(proc().stat(process.pid)), ESRCH);
  EXPECT_EQ(code(proc().stat(process.tids[1])), ESRCH);
  EXPECT_EQ(code(proc().facts(process.pid)), ESRCH);
  EXPECT_EQ(code(proc().children(process.pid)), ESRCH);
  EXPECT_EQ(code(threads(process.pid)), ESRCH);
  EXPECT_EQ(code(proc().groups(process.pid, tree().host())), ESRCH);
}

INSTANTIATE_TEST_SUITE_P(V1, Tasks, ::testing::ValuesIn(worlds(false)), kind_name);
INSTANTIATE_TEST_SUITE_P(V2, Tasks, ::testing::ValuesIn(worlds(true)), kind_name);

}  // namespace

}  // namespace kcg::test
