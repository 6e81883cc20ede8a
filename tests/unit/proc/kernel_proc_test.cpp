// SPDX-License-Identifier: Apache-2.0
#include "proc/kernel_proc.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "proc_fixture.hpp"

namespace kcg::test {

namespace {

using namespace std::string_literals;

class KernelProcTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<KernelProc> open(
      std::size_t max_kept = KernelProc::kMaxKept) const {
    // On a busy machine as well a command line is read when it is asked for.
    return KernelProc::open(fixture_.proc(), fixture_.kvm(), max_kept,
                            {.patience = std::chrono::minutes(1)})
        .value();
  }
  ProcFixture fixture_;
};

TEST_F(KernelProcTest, ListsProcessesInOrder) {
  fixture_.process(200);
  fixture_.process(30);
  std::filesystem::create_directories(fixture_.proc() + "/sys");
  EXPECT_EQ(open()->pids().value(), (std::vector<Pid>{1, 30, 200}));
}

TEST_F(KernelProcTest, ReadsStatAndNothingElse) {
  fixture_.stat(30, {.comm = "a) b", .ppid = 7, .start = 99, .state = 'Z'});
  const auto stat = open()->stat(30).value();
  EXPECT_EQ(stat, (TaskStat{{30, 99}, 7, "a) b", 'Z'}));
}

TEST_F(KernelProcTest, AThreadIsThatOfItsProcess) {
  fixture_.process(30);
  fixture_.process(40);
  fixture_.thread(30, 31, {.comm = "CPU 0/KVM", .ppid = 7, .start = 99}, "0::/\n");
  const auto proc = open();
  const auto stat = proc->thread_stat(30, 31).value();
  EXPECT_EQ(stat.key, (TaskKey{31, 99}));
  EXPECT_EQ(stat.comm, "CPU 0/KVM");
  EXPECT_EQ(proc->thread_stat(40, 31).error().code, ESRCH);
  EXPECT_EQ(proc->thread_stat(30, 40).error().code, ESRCH);
}

TEST_F(KernelProcTest, ATaskThatIsNotThereIsESRCH) {
  const auto proc = open();
  const Host host;
  EXPECT_EQ(proc->stat(30).error().code, ESRCH);
  EXPECT_EQ(proc->facts(30).error().code, ESRCH);
  EXPECT_EQ(proc->children(30).error().code, ESRCH);
  EXPECT_EQ(proc->threads(30, host, 10).error().code, ESRCH);
  EXPECT_EQ(proc->groups(30, host).error().code, ESRCH);
}

TEST_F(KernelProcTest, FactsOfAProcess) {
  fixture_.process(30, {.comm = "shim", .ppid = 7, .start = 99},
                   "/usr/bin/vmm\0-name\0x\0-smp\0002\0"s);
  fixture_.link(30, "exe", "/usr/bin/vmm (deleted)");
  const auto facts = open()->facts(30).value();
  EXPECT_EQ(facts.key, (TaskKey{30, 99}));
  EXPECT_EQ(facts.ppid, 7);
  EXPECT_EQ(facts.comm, "shim");
  EXPECT_EQ(facts.exe, "/usr/bin/vmm");
  EXPECT_EQ(facts.args, (std::vector<std::string>{"/usr/bin/vmm", "-name", "x"})) << "what tells";
  EXPECT_EQ(facts.args_unknown, "");
  EXPECT_EQ(facts.cwd, "/run");
  EXPECT_EQ(facts.real_uid, 0U);
  EXPECT_TRUE(facts.same_pid_ns && facts.same_user_ns && facts.same_root);
  EXPECT_FALSE(facts.kernel_thread);
}

TEST_F(KernelProcTest, FactsThatTellStrangersApart) {
  fixture_.process(30);
  fixture_.link(30, "root", (fixture_.top() / "other-root").string());
  fixture_.process(31);
  fixture_.link(31, "ns/pid", "pid:[9]");
  fixture_.process(32);
  fixture_.link(32, "ns/user", "user:[9]");
  fixture_.process(33);
  fixture_.file(33, "status", "Uid:\t1000\t0\t0\t0\n");
  fixture_.process(34);
  fixture_.remove(34, "root");
  const auto proc = open();
  EXPECT_FALSE(proc->facts(30)->same_root);
  EXPECT_FALSE(proc->facts(31)->same_pid_ns);
  EXPECT_FALSE(proc->facts(32)->same_user_ns);
  EXPECT_EQ(proc->facts(33)->real_uid, 1000U);
  EXPECT_FALSE(proc->facts(34)->same_root);
}

TEST_F(KernelProcTest, RootsAreComparedWithTheNodesNotWithOurs) {
  fixture_.process(40);
  fixture_.link(40, "root", (fixture_.top() / "other-root").string());
  std::filesystem::remove(fixture_.proc() + "/self");
  std::filesystem::create_directory_symlink("40", fixture_.proc() + "/self");
  fixture_.process(41);
  const auto proc = open();
  EXPECT_TRUE(proc->facts(41)->same_root);
  EXPECT_FALSE(proc->facts(40)->same_root) << "a process in a root like ours is none of the node's";
}

TEST_F(KernelProcTest, AKernelThreadHasNoProgram) {
  fixture_.stat(30, {.comm = "vhost-20", .flags = 0x00208040});
  fixture_.file(30, "status", "Uid:\t0\t0\t0\t0\n");
  const auto facts = open()->facts(30).value();
  EXPECT_TRUE(facts.kernel_thread);
  EXPECT_EQ(facts.exe, "");
  EXPECT_TRUE(facts.args.empty());
}

TEST_F(KernelProcTest, NamesOfOtherProcessesThanTheKernelsOwnAreRead) {
  fixture_.stat(1, {.comm = "one", .ppid = 7});
  std::filesystem::create_directories(fixture_.proc() + "/2/task/2/stat");
  const auto names = open()->names({1, 2, 3});
  ASSERT_EQ(names.size(), 3U);
  EXPECT_EQ(names[0].value(), (TaskName{"one", 7}));
  ASSERT_FALSE(names[1]);
  EXPECT_NE(names[1].error().code, ESRCH);
  ASSERT_FALSE(names[2]);
  EXPECT_EQ(names[2].error().code, ESRCH);
}

TEST_F(KernelProcTest, IdentityIsNotTheCommandLine) {
  fixture_.process(30, {.comm = "shim"}, "one\0-id\0a\0"s);
  const auto proc = open();
  const auto who = proc->identity(30).value();
  EXPECT_EQ(who.comm, "shim");
  EXPECT_EQ(who.cwd, "/run");
  EXPECT_EQ(who.real_uid, 0U);
  EXPECT_TRUE(who.args.empty());
  EXPECT_NE(who.args_unknown, "");
  EXPECT_EQ(proc->kept(), 0U) << "nothing is kept of somebody who is nobody yet";
  EXPECT_TRUE(proc->facts(30));
  EXPECT_EQ(proc->identity(30)->args_unknown, "") << "known since";
}

TEST_F(KernelProcTest, TheDirectoryThatAShimWorksInIsKnownItself) {
  const auto bundle = fixture_.top() / "bundle";
  std::filesystem::create_directories(bundle);
  fixture_.process(30);
  fixture_.link(30, "cwd", bundle.string());
  fixture_.process(31);
  fixture_.link(31, "cwd", (fixture_.top() / "kvm" / ".." / "bundle").string());
  fixture_.process(32);
  fixture_.link(32, "cwd", bundle.string());
  fixture_.file(32, "status", "Uid:\t1000\t0\t0\t0\n");
  const auto proc = open();
  struct stat st{};
  ASSERT_EQ(::stat(bundle.c_str(), &st), 0);
  EXPECT_EQ(proc->identity(30)->cwd_id, (FileId{st.st_dev, st.st_ino}));
  EXPECT_EQ(proc->identity(31)->cwd_id, proc->identity(30)->cwd_id) << "whatever the path";
  EXPECT_EQ(proc->identity(32)->cwd_id, std::nullopt) << "a stranger's is not followed";
}

TEST_F(KernelProcTest, AnEndlessCommandLineCountsAsFarAsItIsRead) {
  const auto text = "vmm\0-name\0sandbox-a\0"s;
  fixture_.process(30, {}, text + std::string(std::size_t{1} << 20, 'x'));
  fixture_.process(31, {},
                   std::string((std::size_t{64} << 10) - 12, 'x') + "\0-name\0sandbox-a\0"s);
  const auto proc = open();
  EXPECT_EQ(proc->facts(30)->args, (std::vector<std::string>{"vmm", "-name", "sandbox-a"}));
  EXPECT_EQ(proc->facts(31)->args.size(), 1U) << "an argument that was cut is none";
  EXPECT_LE(proc->kept_bytes(), 12'000U);
}

TEST_F(KernelProcTest, CommandLinesAreReadOncePerIdentity) {
  const auto proc = open();
  const auto first_word = [&] { return proc->facts(30)->args.front(); };
  fixture_.process(30, {.comm = "a", .ppid = 7, .start = 99}, "one\0"s);
  EXPECT_EQ(first_word(), "one");
  fixture_.file(30, "cmdline", "two\0"s);
  EXPECT_EQ(first_word(), "one") << "kept";
  proc->forget(30);
  EXPECT_EQ(first_word(), "two") << "forgotten";
  fixture_.file(30, "cmdline", "three\0"s);
  fixture_.stat(30, {.comm = "b", .ppid = 7, .start = 99});
  EXPECT_EQ(first_word(), "three") << "another name";
  fixture_.file(30, "cmdline", "four\0"s);
  fixture_.stat(30, {.comm = "b", .ppid = 7, .start = 100});
  EXPECT_EQ(first_word(), "four") << "another process";
}

TEST_F(KernelProcTest, AProgramThatIsBeingExecutedHasItsNameBeforeItsArguments) {
  const auto proc = open();
  fixture_.process(30, {.comm = "virtiofsd", .ppid = 7}, "");
  EXPECT_EQ(proc->facts(30)->args, std::vector<std::string>());
  fixture_.file(30, "cmdline", "virtiofsd\0"s);
  EXPECT_EQ(proc->facts(30)->args, std::vector<std::string>{"virtiofsd"});
}

TEST_F(KernelProcTest, KeptFactsKnowTheNewParent) {
  const auto proc = open();
  fixture_.process(30, {.comm = "a", .ppid = 7});
  EXPECT_EQ(proc->facts(30)->ppid, 7);
  fixture_.stat(30, {.comm = "a", .ppid = 1});
  EXPECT_EQ(proc->facts(30)->ppid, 1);
}

TEST_F(KernelProcTest, TheLongestUnusedFactsAreDroppedFirst) {
  fixture_.process(30, {}, "old\0"s);
  const auto one = open();
  (void)one->facts(30);
  const auto proc = open(one->kept_bytes() * 8);
  for (Pid pid = 30; pid < 38; ++pid) {
    fixture_.process(pid, {}, "old\0"s);
    EXPECT_TRUE(proc->facts(pid));
  }
  EXPECT_TRUE(proc->facts(30));  // used again: 31 is now the oldest
  for (Pid pid = 30; pid < 38; ++pid) fixture_.file(pid, "cmdline", "new\0"s);
  EXPECT_EQ(proc->kept(), 8U);
  fixture_.process(40, {}, "new\0"s);
  EXPECT_TRUE(proc->facts(40));
  EXPECT_LT(proc->kept(), 8U);
  EXPECT_EQ(proc->facts(30)->args.front(), "old");
  EXPECT_EQ(proc->facts(37)->args.front(), "old");
  EXPECT_EQ(proc->facts(31)->args.front(), "new");
}

TEST_F(KernelProcTest, WhatIsKeptIsBoundedInBytes) {
  constexpr std::size_t kBound = 20'000;
  const auto proc = open(kBound);
  for (Pid pid = 100; pid < 400; ++pid) {
    fixture_.process(pid, {}, std::string(3000, 'x') + "\0"s);
    EXPECT_TRUE(proc->facts(pid));
    EXPECT_LE(proc->kept_bytes(), kBound);
  }
  EXPECT_GE(proc->kept(), 3U);
  const auto last = *proc->pids();
  const auto kept = proc->kept();
  proc->forget_all_but(last);
  EXPECT_EQ(proc->kept(), kept);
  for (Pid pid = 100; pid < 399; ++pid)
    std::filesystem::remove_all(fixture_.proc() + "/" + std::to_string(pid));
  proc->forget_all_but(*proc->pids());
  EXPECT_EQ(proc->kept(), 1U);
  proc->forget_all_but({});
  EXPECT_EQ(proc->kept(), 0U);
  EXPECT_EQ(proc->kept_bytes(), 0U);
}

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
  if (!GetParam().syscall.empty()) fixture.file(30, "task/31/syscall", GetParam().syscall);
  fixture.link(30, "fd/27", GetParam().descriptor);
  std::vector<ThreadFacts> threads(1);
  threads[0].key.pid = 31;
  threads[0].in_vcpu_ioctl = !GetParam().found;
  KernelProc::open(fixture.proc(), fixture.kvm()).value()->mark_vcpu_hints(30, threads);
  EXPECT_EQ(threads[0].in_vcpu_ioctl, GetParam().found);
}

TEST_F(KernelProcTest, HintsTellTheBlockedSignals) {
  fixture_.process(30);
  fixture_.file(30, "task/31/status", "Name:\tq\nSigBlk:\t0000000000000a77\n");
  std::vector<ThreadFacts> threads(2);
  threads[0].key.pid = 31;
  threads[1].key.pid = 32;
  open()->mark_vcpu_hints(30, threads);
  EXPECT_EQ(threads[0].blocked_signals, 0xa77U);
  EXPECT_EQ(threads[1].blocked_signals, std::nullopt);
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

TEST(KernelProcHere, KnowsItself) {
  const auto proc = KernelProc::open().value();
  auto facts = proc->facts(::getpid());
  // On a busy machine the reader's turn may come after our patience.
  for (int i = 0; i < 10'000 && facts && facts->args.empty(); ++i) {
    std::this_thread::yield();
    facts = proc->facts(::getpid());
  }
  ASSERT_TRUE(facts) << facts.error().text;
  EXPECT_EQ(facts->ppid, ::getppid());
  EXPECT_EQ(facts->real_uid, ::getuid());
  EXPECT_TRUE(facts->same_pid_ns && facts->same_user_ns && facts->same_root);
  EXPECT_TRUE(facts->exe.ends_with("/unit-proc")) << facts->exe;
  EXPECT_FALSE(facts->args.empty());
  EXPECT_EQ(proc->threads(::getpid(), Host{}, 100)->front().key, facts->key);
}

TEST(KernelProcHere, RefusesADirectoryThatIsNoProc) {
  EXPECT_FALSE(KernelProc::open("/usr"));
  EXPECT_FALSE(KernelProc::open("/nowhere"));
}

}  // namespace

}  // namespace kcg::test
