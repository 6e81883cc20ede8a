// SPDX-License-Identifier: Apache-2.0
#include "identify/classify.hpp"

#include <gtest/gtest.h>

namespace kcg {
namespace {

ThreadFacts thread(Pid tid, std::string comm) {
  ThreadFacts facts;
  facts.key = {tid, 1};
  facts.comm = std::move(comm);
  return facts;
}

/// "vcpu:kvm" per thread.
std::vector<std::string> told(const std::vector<Thread>& threads) {
  std::vector<std::string> out;
  for (const auto& t : threads)
    out.push_back(std::string(name(t.cls)) + ":" + std::string(name(t.by)));
  return out;
}

using List = std::vector<std::string>;

/// One thread's class by name, in a VMM whose vCPU KVM knows.
std::string by_name(Hypervisor hypervisor, const char* comm) {
  const auto out =
      classify(ProcessRole::vmm, hypervisor, {thread(1, "known"), thread(2, comm)}, {{{0, 1}}});
  return std::string(name(out[1].cls)) + ":" + std::string(name(out[1].by));
}

TEST(Classify, Names) {
  const struct {
    Hypervisor hypervisor;
    const char *comm, *told;
  } rows[] = {
      {Hypervisor::qemu, "CPU 0/KVM", "vcpu:name"},
      {Hypervisor::qemu, "CPU 127/TCG", "vcpu:name"},
      {Hypervisor::qemu, "CPU 3/HVF", "vcpu:name"},
      {Hypervisor::qemu, "CPU 1000000/KVM", "vcpu:name"},
      {Hypervisor::qemu, "CPU x/KVM", "vmm:role"},
      {Hypervisor::qemu, "CPU /KVM", "vmm:role"},
      {Hypervisor::qemu, "CPU 0", "vmm:role"},
      {Hypervisor::qemu, "IO iothread0", "io:name"},
      {Hypervisor::qemu, "IO ", "vmm:role"},
      {Hypervisor::qemu, "iothread", "io:name"},
      {Hypervisor::qemu, "iothread-virtio", "io:name"},
      {Hypervisor::qemu, "scsi-io-thread1", "io:name"},
      {Hypervisor::qemu, "indep_iothread0", "io:name"},
      {Hypervisor::qemu, "qemu-system-x86", "vmm:role"},
      {Hypervisor::qemu, "kvm-nx-lpage-re", "vmm:name"},
      {Hypervisor::qemu, "vhost-872", "io:name"},
      {Hypervisor::qemu, "vhost-", "vmm:role"},
      {Hypervisor::qemu, "vhost-user", "vmm:role"},
      {Hypervisor::qemu, "vcpu0", "vmm:role"},
      {Hypervisor::qemu, "fc_vcpu 0", "vmm:role"},
      {Hypervisor::stratovirt, "CPU 0/KVM", "vcpu:name"},
      {Hypervisor::stratovirt, "iothread1", "io:name"},
      {Hypervisor::cloud_hypervisor, "vcpu0", "vcpu:name"},
      {Hypervisor::cloud_hypervisor, "vcpu11", "vcpu:name"},
      {Hypervisor::cloud_hypervisor, "vcpu", "vmm:role"},
      {Hypervisor::cloud_hypervisor, "vcpu0x", "vmm:role"},
      {Hypervisor::cloud_hypervisor, "CPU 0/KVM", "vmm:role"},
      {Hypervisor::cloud_hypervisor, "_disk0_q0", "io:name"},
      {Hypervisor::cloud_hypervisor, "_net1_qp0", "io:name"},
      {Hypervisor::cloud_hypervisor, "_fs2", "io:name"},
      {Hypervisor::cloud_hypervisor, "_pmem0", "io:name"},
      {Hypervisor::cloud_hypervisor, "_vsock3", "io:name"},
      {Hypervisor::cloud_hypervisor, "_rng", "io:name"},
      {Hypervisor::cloud_hypervisor, "__rng", "io:name"},
      {Hypervisor::cloud_hypervisor, "_console", "io:name"},
      {Hypervisor::cloud_hypervisor, "__console", "io:name"},
      {Hypervisor::cloud_hypervisor, "vmm", "vmm:role"},
      {Hypervisor::cloud_hypervisor, "http-server", "vmm:role"},
      {Hypervisor::cloud_hypervisor, "vhost-99", "io:name"},
      {Hypervisor::firecracker, "fc_vcpu 0", "vcpu:name"},
      {Hypervisor::firecracker, "fc_vcpu", "vmm:role"},
      {Hypervisor::firecracker, "fc_api", "vmm:role"},
      {Hypervisor::openvmm, "vp-0", "vcpu:name"},
      {Hypervisor::openvmm, "vp-", "vmm:role"},
      {Hypervisor::dragonball, "db_vcpu0", "vcpu:name"},
      {Hypervisor::dragonball, "blk_iothread_0", "io:name"},
      {Hypervisor::unknown, "CPU 0/KVM", "vmm:role"},
      {Hypervisor::unknown, "vhost-12", "io:name"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(std::string(name(row.hypervisor)) + " " + row.comm);
    EXPECT_EQ(by_name(row.hypervisor, row.comm), row.told);
  }
}

TEST(Classify, KvmTellsApartWhatNamesDoNot) {
  const std::vector<ThreadFacts> threads = {
      thread(872, "qemu-system-x86"), thread(878, "qemu-system-x86"), thread(880, "vhost-872"),
      thread(882, "qemu-system-x86"), thread(907, "qemu-system-x86")};
  const KvmVcpus kvm = {{{0, 882}, {1, 907}}};
  EXPECT_EQ(told(classify(ProcessRole::vmm, Hypervisor::qemu, threads, kvm)),
            (List{"vmm:role", "vmm:role", "io:name", "vcpu:kvm", "vcpu:kvm"}));
}

TEST(Classify, KvmsWordCountsBeforeTheName) {
  EXPECT_EQ(told(classify(ProcessRole::vmm, Hypervisor::qemu, {thread(1, "vhost-1")}, {{{0, 1}}})),
            List{"vcpu:kvm"});
}

TEST(Classify, AForeignTidIsNoVcpu) {
  EXPECT_EQ(told(classify(ProcessRole::vmm, Hypervisor::qemu, {thread(1, "q")}, {{{0, 99}}})),
            List{"vmm:fallback"});
}

TEST(Classify, AVcpuThatHasNotRunYetCountsByItsName) {
  const std::vector<ThreadFacts> threads = {thread(1, "CPU 0/KVM"), thread(2, "CPU 1/KVM"),
                                            thread(3, "main")};
  EXPECT_EQ(told(classify(ProcessRole::vmm, Hypervisor::qemu, threads, {{{0, 1}, {1, 0}}})),
            (List{"vcpu:kvm", "vcpu:name", "vmm:role"}));
}

TEST(Classify, HintsCountOnlyWithoutAnEntryOfKvm) {
  auto running = thread(2, "qemu-system-x86");
  running.in_vcpu_ioctl = true;
  auto guest = thread(3, "qemu-system-x86");
  guest.guest_ticks = 5;
  const std::vector<ThreadFacts> threads = {thread(1, "qemu-system-x86"), running, guest};
  EXPECT_EQ(told(classify(ProcessRole::vmm, Hypervisor::qemu, threads, {})),
            (List{"vmm:role", "vcpu:syscall", "vcpu:guest-time"}));
  EXPECT_EQ(told(classify(ProcessRole::vmm, Hypervisor::qemu, threads, {{{0, 1}}})),
            (List{"vcpu:kvm", "vmm:role", "vmm:role"}));
}

/// A thread with a mask as a real QEMU has it.
ThreadFacts masked(Pid tid, std::uint64_t blocked) {
  auto facts = thread(tid, "qemu-system-x86");
  facts.blocked_signals = blocked;
  return facts;
}

TEST(Classify, QemusVcpusListenToTheirKickBeforeTheyRun) {
  const std::vector<ThreadFacts> threads = {masked(1, 0x10002240),          // main thread
                                            masked(2, 0xfffffffe7ffbfa77),  // call_rcu, I/O threads
                                            masked(3, 0xfffffffe7ffbf837),  // vCPU
                                            masked(4, 0xfffffffe7ffbf837),  // vCPU
                                            masked(5, 0xfffffffffffbfeff),  // made by the kernel
                                            masked(6, 0)};  // of a library that blocks nothing
  const List expected = {"vmm:role",     "vmm:role", "vcpu:signals",
                         "vcpu:signals", "vmm:role", "vmm:role"};
  EXPECT_EQ(told(classify(ProcessRole::vmm, Hypervisor::qemu, threads, {{{0, 0}, {1, 0}}})),
            expected);
  EXPECT_EQ(told(classify(ProcessRole::vmm, Hypervisor::qemu, threads, {})), expected);
}

TEST(Classify, OtherVmmsMasksSayNothing) {
  EXPECT_EQ(told(classify(ProcessRole::vmm, Hypervisor::firecracker,
                          {masked(1, 0xfffffffe7ffbf837)}, {{{0, 0}}})),
            List{"vmm:fallback"});
}

TEST(Classify, AVcpuIsMissingThatKvmKnowsAndWeDoNot) {
  const auto missing = [](const KvmVcpus& kvm) {
    const std::vector<ThreadFacts> threads = {thread(1, "main"), thread(2, "CPU 0/KVM")};
    return vcpus_missing(classify(ProcessRole::vmm, Hypervisor::qemu, threads, kvm), kvm);
  };
  EXPECT_FALSE(missing({}));
  EXPECT_FALSE(missing({{{0, 0}}})) << "its name tells";
  EXPECT_TRUE(missing({{{0, 2}, {1, 0}}}));
  KvmVcpus silent;
  silent.silent = 2;
  EXPECT_TRUE(missing(silent)) << "of which an older kernel tells no thread";
}

/// They are read of each thread, and cost as much as all else.
TEST(Classify, ThreadsAreAskedOnlyForWhatNeitherKvmNorNamesTell) {
  const auto asked = [](Hypervisor hypervisor, const char* name, const KvmVcpus& kvm) {
    return hints_tell_more(hypervisor, {thread(1, "main"), thread(2, name), thread(3, name)}, kvm);
  };
  const KvmVcpus none, waiting = {{{0, 0}, {1, 2}}}, all = {{{0, 3}, {1, 2}}};
  EXPECT_TRUE(asked(Hypervisor::qemu, "qemu", none));
  EXPECT_TRUE(asked(Hypervisor::firecracker, "fc_vcpu 0", none)) << "whose are the names?";
  EXPECT_TRUE(asked(Hypervisor::qemu, "qemu", waiting));
  EXPECT_FALSE(asked(Hypervisor::qemu, "CPU 0/KVM", waiting));
  EXPECT_FALSE(asked(Hypervisor::firecracker, "other", waiting)) << "its signals say nothing";
  EXPECT_FALSE(asked(Hypervisor::qemu, "qemu", all));
}

TEST(Classify, WhomItsNameTellsIsNotAskedForHints) {
  const auto asked = [](Hypervisor hypervisor, const char* name) {
    return hints_that_tell(hypervisor, thread(2, name), {}) != VcpuHints{};
  };
  EXPECT_TRUE(asked(Hypervisor::qemu, "qemu-system-x86"));
  EXPECT_TRUE(asked(Hypervisor::qemu, "IO io0")) << "what it does counts for more";
  EXPECT_TRUE(asked(Hypervisor::qemu, "fc_vcpu 0")) << "another hypervisor's";
  EXPECT_FALSE(asked(Hypervisor::qemu, "CPU 0/KVM"));
  EXPECT_FALSE(asked(Hypervisor::firecracker, "fc_vcpu 0"));
  EXPECT_FALSE(asked(Hypervisor::qemu, "vhost-1"));
  EXPECT_FALSE(asked(Hypervisor::unknown, "kvm-nx-lpage-re"));
}

TEST(Classify, OnlyWhatMayTellIsRead) {
  const auto asked = [](Hypervisor hypervisor, const KvmVcpus& kvm) {
    return hints_that_tell(hypervisor, thread(2, "worker"), kvm);
  };
  const KvmVcpus none, waiting = {{{0, 0}}};
  EXPECT_EQ(asked(Hypervisor::qemu, none), (VcpuHints{true, true}));
  EXPECT_EQ(asked(Hypervisor::qemu, waiting), (VcpuHints{false, true}));
  EXPECT_EQ(asked(Hypervisor::firecracker, none), (VcpuHints{true, false}));
}

TEST(Classify, ThreadsMadeByTheKernelCarryAVcpusRegisters) {
  auto vcpu = thread(2, "qemu-system-x86");
  auto vhost = thread(3, "vhost-1");
  auto pages = thread(4, "kvm-nx-lpage-re");
  vcpu.in_vcpu_ioctl = vhost.in_vcpu_ioctl = pages.in_vcpu_ioctl = true;
  EXPECT_EQ(told(classify(ProcessRole::vmm, Hypervisor::qemu, {vcpu, vhost, pages}, {})),
            (List{"vcpu:syscall", "io:name", "vmm:name"}));
}

TEST(Classify, WithoutAnyVcpuAllStayTogether) {
  const std::vector<ThreadFacts> threads = {thread(1, "qemu-system-x86"), thread(2, "vhost-1"),
                                            thread(3, "IO io0")};
  const List together(3, "vmm:fallback");
  EXPECT_EQ(told(classify(ProcessRole::vmm, Hypervisor::qemu, threads, {})), together);
  EXPECT_EQ(told(classify(ProcessRole::vmm, Hypervisor::qemu, threads, {{{0, 0}}})), together);
}

TEST(Classify, OtherProcessesByRole) {
  const std::vector<ThreadFacts> threads = {thread(1, "CPU 0/KVM"), thread(2, "vhost-1")};
  const KvmVcpus kvm = {{{0, 1}}};
  const struct {
    const char* name;
    ProcessRole role;
    Hypervisor hypervisor;
    List told;
  } rows[] = {
      {"shim", ProcessRole::shim, Hypervisor::unknown, {"shim:role", "shim:role"}},
      {"shim with Dragonball inside",
       ProcessRole::shim,
       Hypervisor::dragonball,
       {"vcpu:kvm", "io:name"}},
      {"virtiofsd", ProcessRole::virtiofsd, Hypervisor::unknown, {"io:role", "io:role"}},
      {"descendant", ProcessRole::descendant, Hypervisor::unknown, {"vmm:role", "vmm:role"}},
      {"the kernel's", ProcessRole::kernel_worker, Hypervisor::unknown, {"vmm:role", "io:role"}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(told(classify(row.role, row.hypervisor, threads, kvm)), row.told);
  }
}

TEST(Classify, KeepsFactsAndOrder) {
  const std::vector<ThreadFacts> threads = {thread(3, "c"), thread(1, "a"), thread(2, "b")};
  const auto out = classify(ProcessRole::vmm, Hypervisor::qemu, threads, {{{0, 1}}});
  ASSERT_EQ(out.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(out[i].facts, threads[i]);
  EXPECT_TRUE(classify(ProcessRole::vmm, Hypervisor::qemu, {}, {}).empty());
}

}  // namespace
}  // namespace kcg
