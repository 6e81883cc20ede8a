// SPDX-License-Identifier: Apache-2.0
#include "identify/kernel_worker.hpp"

#include <gtest/gtest.h>

namespace kcg::test {
namespace {

constexpr Pid kVmm = 4321;
constexpr Pid kThread = 4325;

ProcFacts kernels(const char* comm) {
  ProcFacts facts;
  facts.key = {77, 1};
  facts.ppid = 2;
  facts.comm = comm;
  facts.kernel_thread = true;
  return facts;
}

std::vector<Process> sandbox() {
  std::vector<Process> processes(2);
  processes[0].facts.key = {4000, 1};
  processes[0].role = ProcessRole::shim;
  processes[1].facts.key = {kVmm, 1};
  processes[1].role = ProcessRole::vmm;
  processes[1].hypervisor = Hypervisor::qemu;
  Thread thread;
  thread.facts.key = {kThread, 2};
  processes[1].threads.push_back(thread);
  return processes;
}

TEST(KernelWorker, IsCalledAfterItsVmm) {
  for (const auto* comm : {"vhost-4321", "vhost-4325", "kvm-nx-lpage-recovery-4321"})
    EXPECT_TRUE(works_for(kernels(comm), sandbox())) << comm;
  for (const auto* comm : {"vhost-4322", "vhost-", "vhost-4321x", "vhost-43210", "kworker/4321",
                           "kvm-nx-lpage-recovery-1", "kvm-pit/4321", "4321", ""})
    EXPECT_FALSE(works_for(kernels(comm), sandbox())) << comm;
}

TEST(KernelWorker, OfACutNameNeedsAVmm) {
  const auto cut = kernels("kvm-nx-lpage-re");
  EXPECT_TRUE(works_for(cut, sandbox()));
  EXPECT_FALSE(works_for(cut, {sandbox()[0]}));
}

TEST(KernelWorker, IsMadeByTheKernelAlone) {
  auto forged = kernels("vhost-4321");
  forged.kernel_thread = false;
  EXPECT_FALSE(works_for(forged, sandbox()));
}

TEST(KernelWorker, HasTheClassOfItsWork) {
  EXPECT_EQ(kernel_made("vhost-1"), ThreadClass::io);
  EXPECT_EQ(kernel_made("kvm-nx-lpage-re"), ThreadClass::vmm);
  EXPECT_EQ(kernel_made("kvm-nx-lpage-recovery-1"), ThreadClass::vmm);
  for (const auto* comm : {"vhost-", "vhost-x", "kvm-nx-lpage-recovery-", "kvm", "CPU 0/KVM"})
    EXPECT_EQ(kernel_made(comm), std::nullopt) << comm;
}

}  // namespace
}  // namespace kcg::test
