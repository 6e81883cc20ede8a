// SPDX-License-Identifier: Apache-2.0
//
// Execs, threads and ends of real processes.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "daemon/watch/pidfds.hpp"
#include "daemon/watch/processes.hpp"
#include "live/watch_rig.hpp"
#include "proc/kernel_proc.hpp"

namespace kcg::test {

namespace {

class Processes : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    watch_ = ProcessWatch::create(rig_.loop(), *proc_, clock_, rig_.sink());
    ASSERT_EQ(watch_->problem(), "");
  }
  /// A program of this name whose exec is always heard of.
  [[nodiscard]] std::string shim() {
    std::filesystem::copy_file("/bin/true", ground_ / "containerd-shim-kata-v2",
                               std::filesystem::copy_options::skip_existing);
    return ground_ / "containerd-shim-kata-v2";
  }

  Rig rig_;
  Playground ground_;
  SystemClock clock_;
  std::unique_ptr<KernelProc> proc_ = KernelProc::open().value();
  std::unique_ptr<ProcessWatch> watch_;
};

/// Keeps the program running until it is told to end.
pid_t spawn_waiting(const std::string& path) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::execl(path.c_str(), path.c_str(), "1000", nullptr);
    ::_exit(1);
  }
  return pid;
}

void end(pid_t pid) {
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

TEST_F(Processes, ChildrenOfWatchedOnesAreHeardOf) {
  watch_->watch_process(::getpid());
  const auto child = spawn_waiting("/bin/sleep");
  EXPECT_TRUE(rig_.hears(HintKind::exec, "", child));
  end(child);
}

TEST_F(Processes, ShimsAreHeardOfWhoeverStartsThem) {
  std::filesystem::copy_file("/bin/sleep", ground_ / "containerd-shim-kata-v2");
  const auto child = spawn_waiting(ground_ / "containerd-shim-kata-v2");
  EXPECT_TRUE(rig_.hears(HintKind::exec, "", child));
  end(child);
}

TEST_F(Processes, StrangersAreNot) {
  const auto stranger = spawn_waiting("/bin/sleep");
  watch_->watch_process(::getpid());
  watch_->unwatch_process(::getpid());
  std::filesystem::copy_file("/bin/sleep", ground_ / "containerd-shim-kata-v2");
  const auto fence = spawn_waiting(ground_ / "containerd-shim-kata-v2");
  EXPECT_TRUE(rig_.hears(HintKind::exec, "", fence));
  EXPECT_EQ(rig_.count(HintKind::exec, "", stranger), 0);
  end(stranger);
  end(fence);
}

TEST_F(Processes, NewThreadsOfWatchedOnesAreHeardOf) {
  Helper watched([] { std::thread([] { (void)::pause(); }).detach(); });
  Helper stranger([] { std::thread([] { (void)::pause(); }).detach(); });
  watch_->watch_process(watched.pid());
  watch_->watch_process(::getpid());
  const auto fence = spawn_waiting("/bin/sleep");
  EXPECT_TRUE(rig_.hears(HintKind::exec, "", fence));  // the helpers' own forks lie behind us
  end(fence);
  EXPECT_EQ(rig_.count(HintKind::thread, "", watched.pid()), 0) << "a fork is no thread";
  stranger.go();
  watched.go();
  EXPECT_TRUE(rig_.hears(HintKind::thread, "", watched.pid()));
  EXPECT_EQ(rig_.count(HintKind::thread, "", stranger.pid()), 0);
}

TEST_F(Processes, ThreadsThatNameThemselvesAreHeardOf) {
  Helper watched([] { (void)::prctl(PR_SET_NAME, "CPU 0/KVM"); });
  watch_->watch_process(watched.pid());
  watched.go();
  EXPECT_TRUE(rig_.hears(HintKind::thread, "", watched.pid()));
}

TEST_F(Processes, LostEventsAreARescan) {
  const auto child = spawn_waiting("/bin/sleep");  // the connector has answered when this is heard
  watch_->watch_process(child);
  end(child);
  Helper noise([] {
    for (int i = 0; i < 60'000; ++i) (void)::prctl(PR_SET_NAME, "noise");
  });
  noise.go();
  EXPECT_TRUE(rig_.hears(HintKind::rescan, ""));
}

TEST(ProcessesWithoutConnector, AreFoundByScanning) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  // The socket does not exist in another network namespace. Only this thread goes there.
  std::thread([] {
    ASSERT_EQ(::unshare(CLONE_NEWNET), 0);
    Rig rig;
    SystemClock clock;
    auto proc = KernelProc::open().value();
    auto watch = ProcessWatch::create(rig.loop(), *proc, clock, rig.sink());
    EXPECT_NE(watch->problem(), "");
    watch->watch_process(::getpid());
    const auto child = spawn_waiting("/bin/sleep");
    EXPECT_TRUE(rig.hears(HintKind::exec, "", child));
    end(child);
  }).join();
}

TEST(Connector, AnswersHere) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const auto status = probe_connector(std::chrono::seconds(10));
  EXPECT_TRUE(status) << status.error().text;
}

TEST(Connector, DoesNotAnswerInAnotherPidNamespace) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const pid_t outer = ::fork();
  if (outer == 0) {
    if (::unshare(CLONE_NEWPID) != 0) ::_exit(2);
    const pid_t inner = ::fork();
    if (inner == 0) {
      const auto status = probe_connector(std::chrono::milliseconds(200));
      ::_exit(!status && status.error().code == ETIMEDOUT ? 0 : 1);
    }
    int ended = 1;
    ::waitpid(inner, &ended, 0);
    ::_exit(WEXITSTATUS(ended));
  }
  int ended = 1;
  ::waitpid(outer, &ended, 0);
  EXPECT_EQ(WEXITSTATUS(ended), 0);
}

class Ends : public Processes {
 protected:
  PidWatch ends_{rig_.loop(), *proc_, rig_.sink()};
  [[nodiscard]] TaskKey key(pid_t pid) { return proc_->stat(pid).value().key; }
};

TEST_F(Ends, AreHeardOfOnce) {
  Helper helper([] {});
  const auto process = key(helper.pid());
  EXPECT_TRUE(ends_.watch("s1", process));
  EXPECT_TRUE(ends_.watch("s1", process));
  EXPECT_EQ(ends_.size(), 1U);
  helper.end();
  EXPECT_TRUE(rig_.hears(HintKind::process_end, "s1", process.pid));
  EXPECT_EQ(ends_.size(), 0U);
  EXPECT_EQ(rig_.count(HintKind::process_end, "s1", process.pid), 1);
}

TEST_F(Ends, OfAnotherProcessWithThisPidAreNot) {
  Helper helper([] {});
  auto process = key(helper.pid());
  process.start += 1;
  EXPECT_EQ(ends_.watch("s1", process).error().code, ESRCH);
  helper.end();
  process.start -= 1;
  EXPECT_EQ(ends_.watch("s1", process).error().code, ESRCH);
}

TEST_F(Ends, AreNotHeardOfWithoutAWatch) {
  Helper one([] {});
  Helper fence([] {});
  const auto process = key(one.pid());
  const auto last = key(fence.pid());
  EXPECT_TRUE(ends_.watch("s1", process));
  EXPECT_TRUE(ends_.watch("s2", last));
  ends_.unwatch("s1");
  one.end();
  fence.end();
  EXPECT_TRUE(rig_.hears(HintKind::process_end, "s2", last.pid));
  EXPECT_EQ(rig_.count(HintKind::process_end, "s1", process.pid), 0);
}

}  // namespace

}  // namespace kcg::test
