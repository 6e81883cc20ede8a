// SPDX-License-Identifier: Apache-2.0
//
// Execs, threads and ends of real processes.
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <set>
#include <thread>

#include "daemon/watch/pidfds.hpp"
#include "daemon/watch/processes.hpp"
#include "live/watch_rig.hpp"
#include "proc/kernel_proc.hpp"

namespace kcg::test {

namespace {

class Processes : public ::testing::Test {
 protected:
  /// In all hints about it.
  [[nodiscard]] std::set<Pid> tids_told(Pid pid) const {
    std::set<Pid> tids;
    for (const auto& hint : rig_.hints())
      if (hint.kind == HintKind::thread && hint.pid == pid)
        tids.insert(hint.tids.begin(), hint.tids.end());
    return tids;
  }
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    watch_ = std::make_unique<ProcessWatch>(rig_.loop(), *proc_, rig_.sink(), rig_.tell());
    ASSERT_EQ(rig_.problem(), "");
  }
  /// A program of this name whose exec is always heard of.
  [[nodiscard]] std::string shim() {
    std::filesystem::copy_file("/bin/true", ground_ / "containerd-shim-kata-v2",
                               std::filesystem::copy_options::skip_existing);
    return ground_ / "containerd-shim-kata-v2";
  }

  Rig rig_;
  Playground ground_;
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
  const auto tids = tids_told(watched.pid());
  EXPECT_EQ(tids.size(), 1U);
  EXPECT_FALSE(tids.contains(watched.pid())) << "the new one";
}

TEST_F(Processes, ThreadsThatNameThemselvesAreHeardOf) {
  Helper watched([] { (void)::prctl(PR_SET_NAME, "CPU 0/KVM"); });
  watch_->watch_process(watched.pid());
  watched.go();
  EXPECT_TRUE(rig_.hears(HintKind::thread, "", watched.pid()));
  EXPECT_EQ(tids_told(watched.pid()), (std::set<Pid>{watched.pid()}));
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

/// A number that a forked process and its parent see.
class SharedCount {
 public:
  SharedCount()
      : count_(static_cast<std::atomic<std::size_t>*>(::mmap(
            nullptr, sizeof *count_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~SharedCount() { ::munmap(static_cast<void*>(count_), sizeof *count_); }
  SharedCount(const SharedCount&) = delete;
  SharedCount& operator=(const SharedCount&) = delete;
  std::atomic<std::size_t>& operator*() const { return *count_; }

 private:
  std::atomic<std::size_t>* count_;
};

/// Names itself for ever, as fast as it can.
pid_t spawn_flood(const SharedCount& renames) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;; ++*renames) (void)::prctl(PR_SET_NAME, "noise");
  }
  return pid;
}

TEST_F(Processes, ThatFloodCostAFractionAndHideNobody) {
  constexpr std::size_t kRenames = 300'000;
  const struct {
    const char* name;
    bool watched;
  } rows[] = {{"a stranger", false}, {"a watched process", true}};
  for (const auto& row : rows) {
    SharedCount renames;
    Helper quiet([] { (void)::prctl(PR_SET_NAME, "CPU 0/KVM"); });
    watch_->watch_process(quiet.pid());
    const auto before = watch_->handled();
    rig_.forget();
    const pid_t flood = spawn_flood(renames);
    if (row.watched) watch_->watch_process(flood);
    EXPECT_TRUE(rig_.until([&] { return *renames > kRenames; }));
    const auto rescans = rig_.count(HintKind::rescan, "");
    quiet.go();
    EXPECT_TRUE(rig_.until([&] {
      return rig_.count(HintKind::thread, "", quiet.pid()) > 0 ||
             rig_.count(HintKind::rescan, "") > rescans;  // lost, and told so
    })) << row.name;
    const auto handled = watch_->handled() - before;
    const auto hints = rig_.count(HintKind::thread, "", flood);
    end(flood);
    EXPECT_LT(handled, *renames / 4) << row.name;
    EXPECT_LT(hints, *renames / 1000) << row.name;
    EXPECT_EQ(hints > 0, row.watched) << row.name;
  }
}

/// What it did before was dropped with the flood.
TEST_F(Processes, ThatAreWatchedInAFloodAreLookedAt) {
  SharedCount renames;
  Helper quiet([] {});
  const pid_t flood = spawn_flood(renames);
  EXPECT_TRUE(rig_.until([&] {
    watch_->unwatch_process(quiet.pid());
    watch_->watch_process(quiet.pid());
    return rig_.count(HintKind::thread, "", quiet.pid()) > 0;
  }));
  end(flood);
}

/// What it did meanwhile may have been anything.
TEST_F(Processes, ThatWereMutedAreLookedAtAfterTheFlood) {
  SharedCount renames;
  const pid_t flood = spawn_flood(renames);
  watch_->watch_process(flood);
  const auto muted = [&] {  // it goes on, and nothing of it is heard
    const auto handled = watch_->handled();
    const auto enough = *renames + 2000;
    for (int turns = 0; turns < 20 || *renames < enough; ++turns)
      (void)::sd_event_run(rig_.loop().get(), 1000);  // ignored: what was handled counts
    return watch_->handled() == handled;
  };
  for (int tries = 0; !muted(); ++tries) ASSERT_LT(tries, 1000);
  ASSERT_EQ(::kill(flood, SIGSTOP), 0);
  ASSERT_EQ(::waitpid(flood, nullptr, WUNTRACED), flood);
  rig_.forget();
  EXPECT_TRUE(rig_.hears(HintKind::thread, "", flood));
  end(flood);
}

TEST(ProcessesWithoutConnector, AreFoundByScanning) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  // The socket does not exist in another network namespace. Only this thread goes there.
  std::thread([] {
    ASSERT_EQ(::unshare(CLONE_NEWNET), 0);
    Rig rig;
    auto proc = KernelProc::open().value();
    ProcessWatch watch(rig.loop(), *proc, rig.sink(), rig.tell());
    EXPECT_NE(rig.problem(), "");
    watch.watch_process(::getpid());
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

TEST(Connector, TellsWhenItHappened) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  auto connector = ProcConnector::open();
  ASSERT_TRUE(connector) << connector.error().text;
  const SystemClock clock;
  const auto before = clock.now();
  Pid thread = 0;
  std::thread([&thread] { thread = ::gettid(); }).join();
  const auto after = clock.now();
  std::optional<Instant> at;
  Pid born = 0;
  pollfd heard{connector->fd(), POLLIN, 0};
  while (!at) {
    ASSERT_EQ(::poll(&heard, 1, 10'000), 1) << "nothing is heard";
    const auto batch = connector->read();
    ASSERT_TRUE(batch) << batch.error().text;
    for (const auto& event : batch->events)
      if (event.kind == ProcEvent::Kind::thread && event.pid == ::getpid()) {
        at = event.at;
        born = event.tid;
      }
  }
  EXPECT_EQ(born, thread);
  EXPECT_GE(*at, before);
  EXPECT_LE(*at, after + std::chrono::milliseconds(1));
}

/// Reads until nothing is left. Whether a thread event of this process was heard.
bool drain(ProcConnector& connector, Pid pid, bool& lost) {
  bool heard = false;
  for (;;) {
    const auto batch = connector.read();
    if (!batch) return false;
    lost = lost || batch->lost;
    for (const auto& event : batch->events)
      heard = heard || (event.kind == ProcEvent::Kind::thread && event.pid == pid);
    if (batch->events.empty() && !batch->lost) return heard;
  }
}

TEST(Connector, HearsWhatFollowsAnOverflow) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  auto connector = ProcConnector::open();
  ASSERT_TRUE(connector) << connector.error().text;
  std::string own(16, '\0');
  ASSERT_EQ(::prctl(PR_GET_NAME, own.data()), 0);
  bool lost = false;
  (void)drain(*connector, ::getpid(), lost);
  ASSERT_FALSE(lost);
  while (!lost) {
    for (int i = 0; i < 60'000; ++i) (void)::prctl(PR_SET_NAME, own.data());
    const auto batch = connector->read();
    ASSERT_TRUE(batch) << batch.error().text;
    lost = batch->lost;
  }
  const pid_t quiet = ::fork();
  if (quiet == 0) {
    (void)::prctl(PR_SET_NAME, "CPU 0/KVM");
    ::_exit(0);
  }
  ::waitpid(quiet, nullptr, 0);
  lost = false;
  EXPECT_TRUE(drain(*connector, quiet, lost) || lost) << "neither heard nor told as lost";
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
  PidWatch ends_{rig_.loop(), *proc_, rig_.sink(), rig_.tell()};
  [[nodiscard]] TaskKey key(pid_t pid) { return proc_->stat(pid).value().key; }
};

TEST_F(Ends, AreHeardOfOnce) {
  Helper helper([] {});
  const auto process = key(helper.pid());
  ends_.watch(id_of("s1"), process);
  ends_.watch(id_of("s1"), process);
  EXPECT_EQ(ends_.size(), 1U);
  helper.end();
  EXPECT_TRUE(rig_.hears(HintKind::process_end, "s1", process.pid));
  EXPECT_EQ(ends_.size(), 0U);
  EXPECT_EQ(rig_.count(HintKind::process_end, "s1", process.pid), 1);
}

TEST_F(Ends, ThatLieBehindAreHeardOfAtOnce) {
  Helper helper([] {});
  auto process = key(helper.pid());
  process.start += 1;
  ends_.watch(id_of("another"), process);
  EXPECT_EQ(rig_.count(HintKind::process_end, "another", process.pid), 1) << "the pid is reused";
  helper.end();
  process.start -= 1;
  ends_.watch(id_of("s1"), process);
  EXPECT_EQ(rig_.count(HintKind::process_end, "s1", process.pid), 1);
  EXPECT_EQ(ends_.size(), 0U);
  EXPECT_EQ(rig_.problem(), "");
}

TEST_F(Ends, AreNotHeardOfWithoutAWatch) {
  Helper one([] {});
  Helper fence([] {});
  const auto process = key(one.pid());
  const auto last = key(fence.pid());
  ends_.watch(id_of("s1"), process);
  ends_.watch(id_of("s2"), last);
  ends_.unwatch(id_of("s1"));
  one.end();
  fence.end();
  EXPECT_TRUE(rig_.hears(HintKind::process_end, "s2", last.pid));
  EXPECT_EQ(rig_.count(HintKind::process_end, "s1", process.pid), 0);
}

}  // namespace

}  // namespace kcg::test
