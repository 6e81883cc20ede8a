// SPDX-License-Identifier: Apache-2.0
#include "proc/kernel_proc.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "kernel_proc_fixture.hpp"

namespace kcg::test {

namespace {

using namespace std::string_literals;

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

/// In a namespace below that of /proc the kernel counts others than those that are seen.
TEST_F(KernelProcTest, BirthsAreThoseOfWhomProcShows) {
  std::ofstream(fixture_.proc() + "/loadavg") << "0.20 0.18 0.12 1/80 11206\n";
  EXPECT_EQ(open()->last_born(), std::nullopt) << "a kernel that does not tell namespaces";
  fixture_.file(::getpid(), "status", "NSpid:\t70\t7\n");
  EXPECT_EQ(open()->last_born(), std::nullopt);
  fixture_.file(::getpid(), "status", "NSpid:\t7\n");
  const auto proc = open();
  EXPECT_EQ(proc->last_born(), 11206);
  std::ofstream(fixture_.proc() + "/loadavg") << "0.20 0.18 0.12 1/81 11207\n";
  EXPECT_EQ(proc->last_born(), 11207);
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

/// Who is worth its command line was identified just before.
TEST_F(KernelProcTest, AnIdentityIsReadOnceForBoth) {
  const auto proc = open();
  const auto command_follows = [&](Pid pid, const std::function<void()>& meanwhile) {
    fixture_.process(pid, {.comm = "a", .ppid = 7, .start = 99}, "one\0"s);
    EXPECT_TRUE(proc->identity(pid));
    std::filesystem::remove(fixture_.proc() + fmt::format("/{}/status", pid));
    meanwhile();
    return proc->facts(pid).has_value();
  };
  EXPECT_TRUE(command_follows(30, [] {}));
  EXPECT_FALSE(command_follows(31, [&] { proc->forget(31); })) << "it executed a program";
  EXPECT_FALSE(command_follows(32, [&] { fixture_.stat(32, {.comm = "b", .start = 99}); }));
  EXPECT_FALSE(command_follows(33, [&] { fixture_.stat(33, {.comm = "a", .start = 100}); }));
  fixture_.process(35, {.comm = "a", .ppid = 7});
  EXPECT_FALSE(command_follows(34, [&] { EXPECT_TRUE(proc->identity(35)); })) << "another's";
}

TEST_F(KernelProcTest, CommandLinesAreReadOncePerIdentity) {
  const auto proc = open();
  const auto first_word = [&] { return proc->facts(30)->args.front(); };
  fixture_.process(30, {.comm = "a", .ppid = 7, .start = 99}, "one\0"s);
  EXPECT_EQ(first_word(), "one");
  fixture_.file(30, "cmdline", "two\0"s);
  EXPECT_EQ(first_word(), "one") << "kept";
  fixture_.stat(30, {.comm = "a", .ppid = 1, .start = 99});
  EXPECT_EQ(proc->facts(30)->ppid, 1) << "its parent has ended";
  EXPECT_EQ(first_word(), "one") << "and that is no news of itself";
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

TEST(KernelProcHere, KnowsItself) {
  const auto proc = KernelProc::open("/proc", "/sys/kernel/debug/kvm", KernelProc::kMaxKept,
                                     {.patience = std::chrono::minutes(1)})
                        .value();
  const auto facts = proc->facts(::getpid());
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
