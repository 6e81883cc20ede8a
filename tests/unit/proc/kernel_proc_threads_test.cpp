// SPDX-License-Identifier: Apache-2.0
//
// Threads and children of a process, by KernelProc.
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <cerrno>

#include "kernel_proc_fixture.hpp"

namespace kcg::test {

namespace {

TEST_F(KernelProcTest, ChildrenOfAllThreads) {
  fixture_.file(30, "task/30/children", "41 40 ");
  fixture_.file(30, "task/31/children", "");
  fixture_.file(30, "task/32/children", "50 ");
  EXPECT_EQ(open()->children(30).value(), (std::vector<Pid>{40, 41, 50}));
}

TEST_F(KernelProcTest, ChildrenWithoutTheKernelsList) {
  fixture_.stat(30, {});
  std::filesystem::create_directories(fixture_.proc() + "/30/task/30");
  fixture_.stat(40, {.ppid = 30});
  fixture_.stat(41, {.ppid = 1});
  fixture_.stat(42, {.ppid = 30});
  EXPECT_EQ(open()->children(30).value(), (std::vector<Pid>{40, 42}));
}

TEST_F(KernelProcTest, ThreadsWithTheirGroupsTheLeaderFirst) {
  Host host;
  host.mode = HierarchyMode::hybrid;
  host.hierarchies = {{"memory", {"memory"}, false, "/m"}, {"cpu", {"cpu"}, false, "/c"}};
  fixture_.thread(30, 30, {.comm = "q", .start = 5, .utime = 3, .stime = 4},
                  "4:memory:/m30\n1:cpu:/c30\n0::/u\n");
  fixture_.thread(30, 29, {.comm = "CPU 0/KVM", .start = 6, .guest = 9},
                  "4:memory:/m29\n1:cpu:/c29\n0::/u\n");
  std::filesystem::create_directories(fixture_.proc() + "/30/task/33");  // ends while we look
  const auto threads = open()->threads(30, host, 3).value();
  ASSERT_EQ(threads.size(), 2U);
  EXPECT_EQ(threads[0].key, (TaskKey{30, 5}));
  EXPECT_EQ(threads[0].cpu_ticks, 7U);
  EXPECT_EQ(threads[0].groups, (std::vector<std::string>{"/m30", "/c30"}));
  EXPECT_EQ(threads[1].key, (TaskKey{29, 6}));
  EXPECT_EQ(threads[1].comm, "CPU 0/KVM");
  EXPECT_EQ(threads[1].guest_ticks, 9U);
  EXPECT_EQ(threads[1].groups, (std::vector<std::string>{"/m29", "/c29"}));
}

/// One that is born after its children were asked for is told.
TEST_F(KernelProcTest, InALookThreadsAreListedWithTheirChildren) {
  const auto proc = open();
  const auto thread = [&](Pid tid) {
    fixture_.thread(30, tid, {}, "0::/u\n");
    fixture_.file(30, fmt::format("task/{}/children", tid), "");
  };
  const auto count = [&] { return proc->threads(30, Host{}, 9).value().size(); };
  thread(30);
  proc->use_ahead(true);
  EXPECT_TRUE(proc->children(30));
  thread(31);
  EXPECT_EQ(count(), 1U);
  EXPECT_EQ(count(), 2U) << "once";
  EXPECT_TRUE(proc->children(30));
  proc->use_ahead(false);
  thread(32);
  EXPECT_EQ(count(), 3U) << "the look is over";
  EXPECT_TRUE(proc->children(30));
  thread(33);
  EXPECT_EQ(count(), 4U) << "no look";
}

/// Each takes a descriptor, and whoever has a process here may have thousands.
TEST_F(KernelProcTest, OfFewProcessesTheThreadsStayListed) {
  const auto proc = open();
  constexpr Pid kFirst = 100, kProcesses = 40;
  const auto thread = [&](Pid pid, Pid tid) {
    fixture_.thread(pid, tid, {}, "0::/u\n");
    fixture_.file(pid, fmt::format("task/{}/children", tid), "");
  };
  proc->use_ahead(true);
  for (Pid pid = kFirst; pid < kFirst + kProcesses; ++pid) {
    thread(pid, pid);
    EXPECT_TRUE(proc->children(pid));
    thread(pid, pid + 1000);
  }
  Pid kept = 0;
  for (Pid pid = kFirst; pid < kFirst + kProcesses; ++pid)
    kept += proc->threads(pid, Host{}, 9).value().size() == 1 ? 1 : 0;
  EXPECT_EQ(kept, 16);
}

TEST_F(KernelProcTest, TooManyThreadsAreRefused) {
  for (const Pid tid : {30, 31, 32}) fixture_.thread(30, tid, {}, "0::/u\n");
  EXPECT_EQ(open()->threads(30, Host{}, 2).error().code, EOVERFLOW);
  EXPECT_TRUE(open()->threads(30, Host{}, 3));
}

/// Value: a thread's syscall file and what its descriptor 27 (0x1b) is.
struct SyscallCase {
  const char* name;
  std::string syscall;
  std::string descriptor;
  bool found;
};
void PrintTo(const SyscallCase& row, std::ostream* out) { *out << row.name; }
class Syscalls : public ::testing::TestWithParam<SyscallCase> {};

TEST_P(Syscalls, KvmRunOnAVcpu) {
  ProcFixture fixture;
  fixture.process(30);
  fixture.file(30, "task/31/status", "Name:\tq\nSigBlk:\t0000000000000a77\n");
  if (!GetParam().syscall.empty()) fixture.file(30, "task/31/syscall", GetParam().syscall);
  fixture.link(30, "fd/27", GetParam().descriptor);
  std::vector<ThreadFacts> threads(1);
  threads[0].key.pid = 31;
  threads[0].in_vcpu_ioctl = !GetParam().found;
  KernelProc::open(fixture.proc(), fixture.kvm())
      .value()
      ->mark_vcpu_hints(30, threads, [](const ThreadFacts&) { return VcpuHints{true, false}; });
  EXPECT_EQ(threads[0].in_vcpu_ioctl, GetParam().found);
  EXPECT_FALSE(threads[0].blocked_signals) << "nobody wants to know";
}

TEST_F(KernelProcTest, HintsTellTheBlockedSignals) {
  fixture_.process(30);
  fixture_.file(30, "task/31/status", "Name:\tq\nSigBlk:\t0000000000000a77\n");
  fixture_.file(30, "task/33/status", "Name:\tq\nSigBlk:\t0000000000000a77\n");
  std::vector<ThreadFacts> threads(3);
  threads[0].key.pid = 31;
  threads[1].key.pid = 32;
  threads[2].key.pid = 33;
  threads[0].in_vcpu_ioctl = true;
  open()->mark_vcpu_hints(30, threads, [](const ThreadFacts& thread) {
    return VcpuHints{false, thread.key.pid != 33};
  });
  EXPECT_TRUE(threads[0].in_vcpu_ioctl) << "what is not asked for stays";
  EXPECT_EQ(threads[0].blocked_signals, 0xa77U);
  EXPECT_EQ(threads[1].blocked_signals, std::nullopt);
  EXPECT_EQ(threads[2].blocked_signals, std::nullopt) << "nobody wants to know";
}

/// Three hundred threads, in parts of a hundred: what threads() and children() give is what the
/// parts said, once.
TEST_F(KernelProcTest, ManyThreadsAreReadInParts) {
  const Host host;
  const auto thread = [&](Pid tid, const std::string& comm) {
    fixture_.thread(30, tid, {.comm = comm, .start = 5}, "0::/u\n");
    fixture_.file(30, fmt::format("task/{}/children", tid), tid == 31 ? "77 " : "");
    fixture_.file(30, fmt::format("task/{}/status", tid), "SigBlk:\t0000000000000a77\n");
  };
  fixture_.process(30, {.start = 5});
  for (Pid tid = 30; tid < 330; ++tid) thread(tid, "before");
  auto proc = open();
  const TaskKey key{30, 5};
  const auto never = [] { return false; };
  unsigned turns = 1;
  for (int count = 0; !proc->read_ahead(key, host, [&] { return ++count % 100 == 0; });) ++turns;
  EXPECT_EQ(turns, 4U);
  EXPECT_EQ(proc->threads(30, host, 400).value()[1].comm, "before") << "somebody else looks";
  proc->use_ahead(true);
  for (const Pid tid : {30, 31}) thread(tid, "after");
  fixture_.file(30, "task/31/children", "");
  EXPECT_EQ(proc->children(30).value(), std::vector<Pid>{77});
  const auto threads = proc->threads(30, host, 400).value();
  ASSERT_EQ(threads.size(), 300U);
  EXPECT_EQ(threads[0].comm, "after") << "the leader is never read ahead: it tells who this is";
  EXPECT_EQ(threads[1].comm, "before");
  EXPECT_EQ(threads[1].blocked_signals, 0xa77U) << "until it is known that nobody asks";
  EXPECT_EQ(proc->threads(30, host, 400).value()[1].comm, "after") << "a part counts once";
  EXPECT_EQ(proc->children(30).value(), std::vector<Pid>{});

  EXPECT_TRUE(proc->read_ahead(key, host, never));
  thread(31, "later");
  proc->drop_ahead(30);
  EXPECT_EQ(proc->threads(30, host, 400).value()[1].comm, "later") << "dropped";
  EXPECT_TRUE(proc->read_ahead(key, host, never));
  fixture_.process(30, {.start = 6});
  for (Pid tid = 30; tid < 33; ++tid)
    fixture_.thread(30, tid, {.comm = "new", .start = 6}, "0::/\n");
  EXPECT_EQ(proc->threads(30, host, 400).value()[1].comm, "new") << "another process";
}

const std::string kIoctl = fmt::format("{} ", SYS_ioctl);
INSTANTIATE_TEST_SUITE_P(
    Rows, Syscalls,
    ::testing::Values(
        SyscallCase{"vcpu", kIoctl + "0x1b 0xae80 0x0 0x0 0x0 0x0 0x7f 0x7f\n",
                    "anon_inode:kvm-vcpu:0", true},
        SyscallCase{"other_request", kIoctl + "0x1b 0xae81 0x0 0x0 0x0 0x0 0x7f 0x7f\n",
                    "anon_inode:kvm-vcpu:0", false},
        SyscallCase{"other_call", "1 0x1b 0xae80 0x0 0x0 0x0 0x0 0x7f 0x7f\n",
                    "anon_inode:kvm-vcpu:0", false},
        SyscallCase{"other_descriptor", kIoctl + "0x1b 0xae80 0x0 0x0 0x0 0x0 0x7f 0x7f\n",
                    "anon_inode:kvm-vm", false},
        SyscallCase{"no_descriptor", kIoctl + "0x1c 0xae80 0x0 0x0 0x0 0x0 0x7f 0x7f\n",
                    "anon_inode:kvm-vcpu:0", false},
        SyscallCase{"on_a_cpu", "running\n", "anon_inode:kvm-vcpu:0", false},
        SyscallCase{"ended", "", "anon_inode:kvm-vcpu:0", false},
        SyscallCase{"blocked_elsewhere", "-1 0x7f 0x7f\n", "anon_inode:kvm-vcpu:0", false}),
    [](const auto& one) { return std::string(one.param.name); });

}  // namespace

}  // namespace kcg::test
