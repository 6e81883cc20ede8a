// SPDX-License-Identifier: Apache-2.0
//
// Against the kernel that the tests run on.
#include "proc/task_names.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include "proc/kernel_proc.hpp"

namespace kcg {
namespace {

class TaskNamesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto names = TaskNames::open();
    // A kernel may tell nothing, but none tells a wrong parent.
    ASSERT_TRUE(names || names.error().text.find("parent") == std::string::npos)
        << names.error().text;
    if (!names) GTEST_SKIP() << names.error().text;
    names_.emplace(std::move(*names));
    while (children_.size() < 150) children_.push_back(start());
  }
  void TearDown() override {
    for (const Pid pid : children_) end(pid);
  }
  static Pid start() {
    const Pid pid = ::fork();
    if (pid == 0) {
      ::prctl(PR_SET_NAME, "a name of 15 ch");
      ::kill(::getpid(), SIGSTOP);
      ::_exit(0);
    }
    (void)::waitpid(pid, nullptr, WUNTRACED);
    return pid;
  }
  static void end(Pid pid) {
    (void)::kill(pid, SIGKILL);
    (void)::waitpid(pid, nullptr, 0);
  }

  std::optional<TaskNames> names_;
  std::vector<Pid> children_;
};

TEST_F(TaskNamesTest, AreThoseOfProc) {
  const auto answers = names_->ask(children_);
  ASSERT_EQ(answers.size(), children_.size());
  for (const auto& answer : answers)
    EXPECT_EQ(answer.value().value(), (TaskName{"a name of 15 ch", ::getpid()}));
}

TEST_F(TaskNamesTest, WhoIsNoMoreIsAnErrorOfHisOwn) {
  const Pid ended = children_.back();
  children_.pop_back();
  end(ended);
  const auto answers = names_->ask({children_.front(), ended, children_.back()});
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_TRUE(answers[0].value());
  EXPECT_TRUE(answers[2].value());
  ASSERT_FALSE(answers[1].value());
  EXPECT_EQ(answers[1]->error().code, ESRCH);
}

/// What the kernel does not want to tell any more says nothing about a process.
TEST_F(TaskNamesTest, ThatAreRefusedAreReadFromProc) {
  const auto proc = KernelProc::open().value();
  const Pid child = ::fork();
  if (child == 0) {
    if (::setresuid(65534, 65534, 65534) != 0) ::_exit(1);
    if (names_->ask({::getppid()}).front()) ::_exit(2);
    ::_exit(proc->names({children_.front()}).front() ? 0 : 3);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(TaskNamesTest, AreWhatKernelProcTells) {
  const auto proc = KernelProc::open().value();
  const auto names = proc->names({children_.front(), ::getpid()});
  ASSERT_EQ(names.size(), 2U);
  EXPECT_EQ(names[0].value(), (TaskName{"a name of 15 ch", ::getpid()}));
  const auto own = proc->stat(::getpid()).value();
  EXPECT_EQ(names[1].value(), (TaskName{own.comm, own.ppid}));
}

}  // namespace
}  // namespace kcg
