// SPDX-License-Identifier: Apache-2.0
#include "apply/apply.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "support/fake_proc.hpp"
#include "support/fake_systemd.hpp"

namespace kcg::test {
namespace {

GroupRef ref(const char* hierarchy, const char* path) {
  return {hierarchy, CgroupPath::parse(path).value()};
}

Step step(const GroupRef& group, Operation operation) { return {group, std::move(operation)}; }

class Apply : public testing::Test {
 protected:
  explicit Apply(Host host = fake_host_v2()) : tree_(std::move(host)), proc_(tree_) {}

  Step move(const GroupRef& group, Pid task) { return {group, op::MoveProcess{{proc_.key(task)}}}; }
  std::vector<Outcome> outcomes(const std::vector<Step>& steps) {
    report_ = apply({steps}, tree_, proc_, &systemd_);
    std::vector<Outcome> found;
    for (const auto& result : report_.results) found.push_back(result.outcome);
    return found;
  }

  FakeTree tree_;
  FakeProc proc_;
  FakeSystemd systemd_{tree_};
  Report report_;
};
using Outcomes = std::vector<Outcome>;
using enum Outcome;

TEST_F(Apply, OneKernelOperationPerStepInOrder) {
  const Pid pid = proc_.start(1, {"x", "/x", {"x"}});
  EXPECT_EQ(outcomes({step(ref("v2", "/"), op::Enable{"memory"}),
                      step(ref("v2", "/a"), op::Create{}), step(ref("v2", "/a"), op::Mark{"S"}),
                      step(ref("v2", "/a"), op::Limit{{"memory.max", "", "4096"}}),
                      move(ref("v2", "/a"), pid), step(ref("v2", "/b"), op::Create{}),
                      step(ref("v2", "/b"), op::Remove{})}),
            (Outcomes{done, done, done, done, done, done, done}));
  EXPECT_EQ(report_.done(), 7U);
  std::vector<std::string> log;
  for (const auto& write : tree_.log()) log.push_back(describe(write));
  EXPECT_EQ(log,
            (std::vector<std::string>{"'v2:/' cgroup.subtree_control=+memory", "'v2:/a' mkdir",
                                      "'v2:/a' trusted.kata-cgroupd=S", "'v2:/a' memory.max=4096",
                                      fmt::format("'v2:/a' cgroup.procs={}", pid), "'v2:/b' mkdir",
                                      "'v2:/b' rmdir"}));
}

TEST_F(Apply, WithoutItsDeviceProgramNobodyEntersAGroup) {
  const Pid pid = proc_.start(1, {"x", "/x", {"x"}});
  const auto attaching = [](std::uint32_t program) {
    return step(ref("v2", "/a"), op::Device{{program, kSeveralPrograms, true}});
  };
  const auto enter = move(ref("v2", "/a"), pid);
  EXPECT_EQ(outcomes({step(ref("v2", "/a"), op::Create{}), attaching(7), enter}),
            (Outcomes{done, failed, skipped}));
  EXPECT_EQ(report_.results[1].code, ENOENT);
  const auto program = tree_.load_device_program();
  EXPECT_EQ(outcomes({attaching(program), enter}), (Outcomes{done, done}));
  EXPECT_EQ(tree_.devices(ref("v2", "/a")).value(),
            (DevicePolicy{kSeveralPrograms, {program}, ""}));
}

TEST_F(Apply, AGroupThatCannotBeUsedEndsItsBranchAndNoOther) {
  struct Row {
    Operation operation;
    bool ends;
  };
  for (const auto& row :
       {Row{op::Create{}, true}, Row{op::Mark{}, true}, Row{op::Device{}, true},
        Row{op::MakeThreaded{}, true}, Row{op::Enable{"cpu"}, false},
        Row{op::Limit{{"memory.max"}}, false}, Row{op::Seed{{"cpuset.cpus"}}, false},
        Row{op::Remove{}, false}, Row{op::SetScope{{"memory.max"}}, false}}) {
    const auto rest = row.ends ? skipped : done;
    tree_.make_all("v2", "/a");
    const auto one = step(ref("v2", "/a"), row.operation);
    tree_.fail_operation(is<op::Device>(one) || is<op::SetScope>(one) ? 0 : 1, EIO);
    EXPECT_EQ(outcomes({one, step(ref("v2", "/a/b"), op::Create{}),
                        step(ref("v2", "/ab"), op::Create{})}),
              (Outcomes{failed, rest, done}))
        << name(row.operation);
    tree_.outside([&](CgroupTree& tree) {
      (void)tree.remove(ref("v2", "/a/b"));
      (void)tree.remove(ref("v2", "/a"));
      (void)tree.remove(ref("v2", "/ab"));
    });
  }
}

class ApplyV1 : public Apply {
 protected:
  ApplyV1() : Apply(fake_host_v1()) {}
};

TEST_F(ApplyV1, AV1CpusetWithoutSeedEndsItsBranchInItsHierarchyOnly) {
  for (const char* h : {"cpuset", "cpu"}) tree_.make_all(h, "/a");
  tree_.fail_operation(1, EACCES);
  EXPECT_EQ(
      outcomes({step(ref("cpuset", "/a"), op::Seed{{"cpuset.cpus", "", "0"}}),
                step(ref("cpuset", "/a/b"), op::Create{}), step(ref("cpu", "/a/b"), op::Create{})}),
      (Outcomes{failed, skipped, done}));
}

TEST_F(Apply, FailuresCarryErrnoAndText) {
  (void)outcomes({step(ref("v2", "/none"), op::Limit{{"memory.max", "", "1"}})});
  EXPECT_EQ(report_.results.at(0).code, ENOENT);
  EXPECT_NE(report_.results[0].text.find("/none"), std::string::npos);
  EXPECT_NE(report_.results[0].text.find("memory.max"), std::string::npos);
}

// --- tasks --------------------------------------------------------------------------------------

TEST_F(Apply, ATaskThatEndedIsNotMoved) {
  tree_.make_all("v2", "/a");
  const Pid pid = proc_.start(1, {"x", "/x", {"x"}});
  const auto one = move(ref("v2", "/a"), pid);
  proc_.exit_process(pid);
  EXPECT_EQ(outcomes({one}), Outcomes{failed});
  EXPECT_EQ(report_.results[0].code, ESRCH);
  EXPECT_TRUE(tree_.log().empty());
}

TEST_F(Apply, APidThatWasReusedBeforeIsNotMoved) {
  tree_.make_all("v2", "/a");
  const Pid pid = proc_.start(1, {"x", "/x", {"x"}});
  const auto one = move(ref("v2", "/a"), pid);
  proc_.exit_process(pid);
  proc_.start_as(pid, 1, {"y", "/y", {"y"}});
  EXPECT_EQ(outcomes({one}), Outcomes{failed});
  EXPECT_FALSE(report_.results[0].stranger);
  EXPECT_TRUE(tree_.log().empty());
}

TEST_F(Apply, APidThatIsReusedBetweenTwoMovesIsNotMovedAgain) {
  tree_.make_all("v2", "/a");
  const Pid pid = proc_.start(1, {"x", "/x", {"x"}});
  const auto one = move(ref("v2", "/a"), pid);
  tree_.on_operation([&](const FakeWrite& write) {
    if (describe(write) != "'v2:/b' mkdir") return 0;
    proc_.exit_process(pid);
    proc_.start_as(pid, 1, {"y", "/y", {"y"}});
    return 0;
  });
  EXPECT_EQ(outcomes({one, step(ref("v2", "/b"), op::Create{}), one}),
            (Outcomes{done, done, failed}));
  EXPECT_FALSE(report_.results[2].stranger) << "nothing was written";
}

/// On v1 a task moves in each hierarchy.
TEST_F(ApplyV1, ATaskIsProvenBeforeItsFirstMoveAndAfterItsLast) {
  const Pid pid = proc_.start(1, {"x", "/x", {"x"}});
  std::vector<Step> steps;
  for (const auto* hierarchy : {"cpu", "cpuacct", "memory"}) {
    tree_.make_all(hierarchy, "/a");
    steps.push_back(move(ref(hierarchy, "/a"), pid));
  }
  unsigned reads = 0;
  proc_.on_read([&reads] {
    ++reads;
    return 0;
  });
  EXPECT_EQ(outcomes(steps), (Outcomes{done, done, done}));
  EXPECT_EQ(reads, 2U);
}

TEST_F(ApplyV1, EachTaskIsProvenForItself) {
  const Pid pid = proc_.start(1, {"x", "/x", {"x"}});
  const Pid other = proc_.start(1, {"y", "/y", {"y"}});
  for (const auto* hierarchy : {"cpu", "memory"}) tree_.make_all(hierarchy, "/a");
  const std::vector<Step> steps = {move(ref("cpu", "/a"), pid), move(ref("memory", "/a"), pid),
                                   move(ref("cpu", "/a"), other)};
  proc_.exit_process(other);
  EXPECT_EQ(outcomes(steps), (Outcomes{done, done, failed}));
  EXPECT_EQ(tree_.log().size(), 2U);
}

TEST_F(ApplyV1, AMoveThatFailedProvesNobody) {
  const Pid pid = proc_.start(1, {"x", "/x", {"x"}});
  tree_.make_all("memory", "/a");
  tree_.make_all("pids", "/a");
  tree_.on_operation([&](const FakeWrite& write) {
    if (write.group.hierarchy == "cpu") proc_.exit_process(pid);
    return 0;
  });
  const std::vector<Step> steps = {move(ref("cpu", "/a"), pid), move(ref("memory", "/a"), pid)};
  EXPECT_EQ(outcomes(steps), (Outcomes{failed, failed}));
  EXPECT_EQ(tree_.log().size(), 1U);
}

/// Reused between two of its moves: who has the pid now was never moved by the first.
TEST_F(ApplyV1, AStrangerIsReturnedFromWhereWePutIt) {
  for (const auto* hierarchy : {"cpu", "memory"})
    for (const auto* group : {"/a", "/home", "/elsewhere"}) tree_.make_all(hierarchy, group);
  const Pid parent = proc_.start(1, {"parent", "/parent", {"parent"}});
  const Pid pid = proc_.start(1, {"x", "/x", {"x"}});
  const auto put = [&](const char* hierarchy, const char* group, Pid who) {
    tree_.outside([&](CgroupTree& tree) {
      EXPECT_TRUE(tree.write(ref(hierarchy, group), "cgroup.procs", std::to_string(who)));
    });
  };
  put("cpu", "/home", parent);
  put("memory", "/home", parent);
  bool reused = false;
  tree_.on_operation([&](const FakeWrite& write) {
    if (write.group.hierarchy != "memory" || std::exchange(reused, true)) return 0;
    proc_.exit_process(pid);
    proc_.start_as(pid, parent, {"y", "/y", {"y"}});
    put("cpu", "/elsewhere", pid);
    return 0;
  });
  const std::vector<Step> steps = {move(ref("cpu", "/a"), pid), move(ref("memory", "/a"), pid)};
  EXPECT_EQ(outcomes(steps), (Outcomes{done, failed}));
  EXPECT_EQ(tree_.group_of(pid, "cpu"), "/elsewhere");
  EXPECT_EQ(tree_.group_of(pid, "memory"), "/home");
}

/// Runs a move whose pid is reused at the moment of the write.
class Stranger : public Apply {
 protected:
  void run() {
    tree_.make_all("v2", "/a");
    tree_.make_all("v2", "/home");
    parent_ = proc_.start(1, {"parent", "/parent", {"parent"}});
    tree_.outside([&](CgroupTree& tree) {
      (void)tree.write(ref("v2", "/home"), "cgroup.procs", std::to_string(parent_));
    });
    pid_ = proc_.start(1, {"x", "/x", {"x"}});
    const auto one = move(ref("v2", "/a"), pid_);
    tree_.on_operation([&](const FakeWrite&) {
      if (!std::exchange(reused_, true)) {
        proc_.exit_process(pid_);
        proc_.start_as(pid_, parent_alive_ ? parent_ : 99'999, {"y", "/y", {"y"}});
      }
      return 0;
    });
    (void)outcomes({one});
  }
  Pid parent_ = 0, pid_ = 0;
  bool reused_ = false, parent_alive_ = true;
};

TEST_F(Stranger, GoesBackToItsParentsGroup) {
  run();
  const auto& result = report_.results.at(0);
  EXPECT_EQ(result.outcome, failed);
  EXPECT_TRUE(result.stranger);
  EXPECT_NE(result.text.find("/home"), std::string::npos);
  EXPECT_EQ(tree_.group_of(pid_, "v2"), "/home");
}

TEST_F(Stranger, WhoseParentIsGoneIsSaid) {
  parent_alive_ = false;
  run();
  EXPECT_TRUE(report_.results.at(0).stranger);
  EXPECT_NE(report_.results[0].text.find("no group to return to"), std::string::npos);
}

TEST_F(Stranger, WhoCannotGoBackIsSaid) {
  bool first = true;
  tree_.make_all("v2", "/a");
  tree_.make_all("v2", "/home");
  parent_ = proc_.start(1, {"parent", "/parent", {"parent"}});
  pid_ = proc_.start(1, {"x", "/x", {"x"}});
  const auto one = move(ref("v2", "/a"), pid_);
  tree_.on_operation([&](const FakeWrite&) {
    if (!std::exchange(first, false)) return EACCES;
    proc_.exit_process(pid_);
    proc_.start_as(pid_, parent_, {"y", "/y", {"y"}});
    return 0;
  });
  (void)outcomes({one});
  EXPECT_TRUE(report_.results.at(0).stranger);
  EXPECT_NE(report_.results[0].text.find("could not be returned"), std::string::npos);
}

// --- scopes -------------------------------------------------------------------------------------

Step scope_step(FakeProc& proc, Pid pid) {
  return step(ref("v2", "/x.slice/s.scope"), op::StartScope{proc.key(pid)});
}

TEST_F(Apply, AScopeIsPendingUntilItsJobEnds) {
  const Pid pid = proc_.start(1, {"x", "/x", {"x"}});
  EXPECT_EQ(outcomes({scope_step(proc_, pid)}), Outcomes{pending});
  ASSERT_EQ(systemd_.waiting().size(), 1U);
  EXPECT_EQ(systemd_.waiting()[0].unit, "s.scope");
  EXPECT_EQ(systemd_.waiting()[0].slice, "x.slice");
  EXPECT_EQ(systemd_.waiting()[0].member, proc_.key(pid));
  EXPECT_TRUE(tree_.log().empty());
}

TEST_F(Apply, ARefusedScopeFails) {
  const Pid pid = proc_.start(1, {"x", "/x", {"x"}});
  systemd_.fail_calls(EACCES);
  EXPECT_EQ(outcomes({scope_step(proc_, pid)}), Outcomes{failed});
  EXPECT_EQ(report_.results[0].code, EACCES);
}

TEST_F(Apply, WithoutSystemdScopesFail) {
  const Pid pid = proc_.start(1, {"x", "/x", {"x"}});
  for (const auto& one : {scope_step(proc_, pid),
                          step(ref("v2", "/x.slice/s.scope"), op::SetScope{{"cpu.weight"}})}) {
    const auto report = apply({{one}}, tree_, proc_, nullptr);
    EXPECT_EQ(report.results.at(0).outcome, failed);
    EXPECT_EQ(report.results[0].code, ENOTCONN);
    EXPECT_NE(report.results[0].text.find("[systemd] address"), std::string::npos);
  }
}

TEST_F(Apply, LimitsOfAScopeGoThroughSystemd) {
  const Pid pid = proc_.start(1, {"x", "/x", {"x"}});
  (void)outcomes({scope_step(proc_, pid)});
  (void)systemd_.finish_jobs();
  EXPECT_EQ(
      outcomes({step(ref("v2", "/x.slice/s.scope"), op::SetScope{{"memory.max", "", "8192"}})}),
      Outcomes{pending})
      << "it answers later";
  (void)systemd_.finish_jobs();
  EXPECT_EQ(tree_.read(ref("v2", "/x.slice/s.scope"), "memory.max").value(), "8192");
  EXPECT_TRUE(tree_.log().empty());
}

TEST_F(Apply, NothingToDo) { EXPECT_TRUE(apply({}, tree_, proc_, &systemd_).results.empty()); }

}  // namespace
}  // namespace kcg::test
