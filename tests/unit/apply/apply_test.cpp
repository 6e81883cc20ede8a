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

Step step(Op op, const GroupRef& group, const char* key = "", const char* value = "") {
  Step one;
  one.op = op;
  one.group = group;
  one.key = key;
  one.new_value = value;
  return one;
}

class Apply : public testing::Test {
 protected:
  explicit Apply(Host host = fake_host_v2()) : tree_(std::move(host)), proc_(tree_) {}

  Step move(Op op, const GroupRef& group, Pid task) {
    auto one = step(op, group, op == Op::move_process ? "cgroup.procs" : "cgroup.threads");
    one.task = proc_.key(task);
    one.process = task;
    return one;
  }
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
  EXPECT_EQ(outcomes({step(Op::enable, ref("v2", "/"), "cgroup.subtree_control", "+memory"),
                      step(Op::create, ref("v2", "/a")),
                      step(Op::mark, ref("v2", "/a"), "user.kata-cgroupd", "S"),
                      step(Op::limit, ref("v2", "/a"), "memory.max", "4096"),
                      move(Op::move_process, ref("v2", "/a"), pid),
                      step(Op::create, ref("v2", "/b")), step(Op::remove, ref("v2", "/b"))}),
            (Outcomes{done, done, done, done, done, done, done}));
  EXPECT_EQ(report_.done(), 7U);
  std::vector<std::string> log;
  for (const auto& write : tree_.log()) log.push_back(describe(write));
  EXPECT_EQ(log, (std::vector<std::string>{"'v2:/' cgroup.subtree_control=+memory", "'v2:/a' mkdir",
                                           "'v2:/a' user.kata-cgroupd=S", "'v2:/a' memory.max=4096",
                                           fmt::format("'v2:/a' cgroup.procs={}", pid),
                                           "'v2:/b' mkdir", "'v2:/b' rmdir"}));
}

TEST_F(Apply, WithoutItsDeviceProgramNobodyEntersAGroup) {
  const Pid pid = proc_.start(1, {"x", "/x", {"x"}});
  auto attach = step(Op::device, ref("v2", "/a"), "device-program", "7");
  attach.device = DeviceChange{7, kSeveralPrograms, true};
  const auto enter = move(Op::move_process, ref("v2", "/a"), pid);
  EXPECT_EQ(outcomes({step(Op::create, ref("v2", "/a")), attach, enter}),
            (Outcomes{done, failed, skipped}));
  EXPECT_EQ(report_.results[1].code, ENOENT);
  attach.device->program = tree_.load_device_program();
  EXPECT_EQ(outcomes({attach, enter}), (Outcomes{done, done}));
  EXPECT_EQ(tree_.devices(ref("v2", "/a")).value(),
            (DevicePolicy{kSeveralPrograms, {attach.device->program}, ""}));
}

TEST_F(Apply, AGroupThatCannotBeUsedEndsItsBranchAndNoOther) {
  struct Row {
    Op op;
    const char* key;
    bool ends;
  };
  for (const auto& row :
       {Row{Op::create, "", true}, Row{Op::mark, "", true}, Row{Op::device, "", true},
        Row{Op::enable, "cgroup.type", true}, Row{Op::enable, "cgroup.subtree_control", false},
        Row{Op::limit, "memory.max", false}, Row{Op::seed, "cpuset.cpus", false},
        Row{Op::remove, "", false}, Row{Op::set_scope, "", false}}) {
    const auto rest = row.ends ? skipped : done;
    tree_.make_all("v2", "/a");
    tree_.fail_operation(row.op == Op::device || row.op == Op::set_scope ? 0 : 1, EIO);
    EXPECT_EQ(outcomes({step(row.op, ref("v2", "/a"), row.key), step(Op::create, ref("v2", "/a/b")),
                        step(Op::create, ref("v2", "/ab"))}),
              (Outcomes{failed, rest, done}))
        << name(row.op) << " " << row.key;
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
      outcomes({step(Op::seed, ref("cpuset", "/a"), "cpuset.cpus", "0"),
                step(Op::create, ref("cpuset", "/a/b")), step(Op::create, ref("cpu", "/a/b"))}),
      (Outcomes{failed, skipped, done}));
}

TEST_F(Apply, FailuresCarryErrnoAndText) {
  (void)outcomes({step(Op::limit, ref("v2", "/none"), "memory.max", "1")});
  EXPECT_EQ(report_.results.at(0).code, ENOENT);
  EXPECT_NE(report_.results[0].text.find("/none"), std::string::npos);
  EXPECT_NE(report_.results[0].text.find("memory.max"), std::string::npos);
}

// --- tasks --------------------------------------------------------------------------------------

TEST_F(Apply, ATaskThatEndedIsNotMoved) {
  tree_.make_all("v2", "/a");
  const Pid pid = proc_.start(1, {"x", "/x", {"x"}});
  const auto one = move(Op::move_process, ref("v2", "/a"), pid);
  proc_.exit_process(pid);
  EXPECT_EQ(outcomes({one}), Outcomes{failed});
  EXPECT_EQ(report_.results[0].code, ESRCH);
  EXPECT_TRUE(tree_.log().empty());
}

TEST_F(Apply, APidThatWasReusedBeforeIsNotMoved) {
  tree_.make_all("v2", "/a");
  const Pid pid = proc_.start(1, {"x", "/x", {"x"}});
  const auto one = move(Op::move_process, ref("v2", "/a"), pid);
  proc_.exit_process(pid);
  proc_.start_as(pid, 1, {"y", "/y", {"y"}});
  EXPECT_EQ(outcomes({one}), Outcomes{failed});
  EXPECT_FALSE(report_.results[0].stranger);
  EXPECT_TRUE(tree_.log().empty());
}

/// Runs a move whose pid is reused at the moment of the write.
class Stranger : public Apply {
 protected:
  void run(Op op) {
    tree_.make_all("v2", "/a");
    tree_.make_all("v2", "/home");
    parent_ = proc_.start(1, {"parent", "/parent", {"parent"}});
    tree_.outside([&](CgroupTree& tree) {
      (void)tree.write(ref("v2", "/home"), "cgroup.procs", std::to_string(parent_));
    });
    pid_ = proc_.start(1, {"x", "/x", {"x"}});
    const auto one = move(op, ref("v2", "/a"), pid_);
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
  run(Op::move_process);
  const auto& result = report_.results.at(0);
  EXPECT_EQ(result.outcome, failed);
  EXPECT_TRUE(result.stranger);
  EXPECT_NE(result.text.find("/home"), std::string::npos);
  EXPECT_EQ(tree_.group_of(pid_, "v2"), "/home");
}

TEST_F(Stranger, WhoseParentIsGoneIsSaid) {
  parent_alive_ = false;
  run(Op::move_process);
  EXPECT_TRUE(report_.results.at(0).stranger);
  EXPECT_NE(report_.results[0].text.find("no group to return to"), std::string::npos);
}

TEST_F(Stranger, WhoCannotGoBackIsSaid) {
  bool first = true;
  tree_.make_all("v2", "/a");
  tree_.make_all("v2", "/home");
  parent_ = proc_.start(1, {"parent", "/parent", {"parent"}});
  pid_ = proc_.start(1, {"x", "/x", {"x"}});
  const auto one = move(Op::move_process, ref("v2", "/a"), pid_);
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
  auto one = step(Op::start_scope, ref("v2", "/x.slice/s.scope"), "s.scope", "x.slice");
  one.task = proc.key(pid);
  return one;
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
  for (const auto& one :
       {scope_step(proc_, pid), step(Op::set_scope, ref("v2", "/x.slice/s.scope"), "cpu.weight")}) {
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
  EXPECT_EQ(outcomes({step(Op::set_scope, ref("v2", "/x.slice/s.scope"), "memory.max", "8192")}),
            Outcomes{pending})
      << "it answers later";
  (void)systemd_.finish_jobs();
  EXPECT_EQ(tree_.read(ref("v2", "/x.slice/s.scope"), "memory.max").value(), "8192");
  EXPECT_TRUE(tree_.log().empty());
}

TEST_F(Apply, NothingToDo) { EXPECT_TRUE(apply({}, tree_, proc_, &systemd_).results.empty()); }

}  // namespace
}  // namespace kcg::test
