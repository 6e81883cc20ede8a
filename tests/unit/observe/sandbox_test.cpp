// SPDX-License-Identifier: Apache-2.0
#include "observe/sandbox.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "layout/layout.hpp"
#include "observe/scan.hpp"
#include "oci/cgroups_path.hpp"
#include "sandbox_scenes.hpp"
#include "support/sandbox_world.hpp"

namespace kcg::test {
namespace {

// --- processes ----------------------------------------------------------------------------------

TEST(Observe, RolesOfAWholeSandbox) {
  SandboxWorld world(scenario());
  world.boot();
  const auto observed = world.observe();
  ASSERT_EQ(observed.processes.size(), 4U);
  EXPECT_EQ(observed.processes[0].role, ProcessRole::shim);
  EXPECT_EQ(observed.processes[0].facts.key.pid, world.shim);
  EXPECT_EQ(observed.processes[1].role, ProcessRole::vmm);
  EXPECT_EQ(observed.processes[1].hypervisor, Hypervisor::qemu);
  EXPECT_EQ(observed.processes[2].role, ProcessRole::virtiofsd);
  EXPECT_EQ(observed.processes[3].role, ProcessRole::virtiofsd);
  EXPECT_TRUE(observed.proven_kata);
  EXPECT_FALSE(observed.gone);
  EXPECT_TRUE(observed.foreign.empty());
  const auto& threads = observed.processes[1].threads;
  EXPECT_EQ(std::count_if(threads.begin(), threads.end(),
                          [](const Thread& t) { return t.by == ClassSource::kvm; }),
            2);
}

TEST(Observe, StrangersAreNotOurs) {
  auto s = scenario();
  s.strangers = 2;  // the first one carries our sandbox's very name
  SandboxWorld world(s);
  world.boot();
  for (const auto& process : world.observe().processes)
    for (const Pid stranger : world.strangers) EXPECT_NE(process.facts.key.pid, stranger);
}

TEST(Observe, AnUnprovenProcessInOurGroupIsForeign) {
  SandboxWorld world(scenario());
  world.boot();
  (void)world.pass();
  put(world, world.strangers[1], world.expected_sandbox_group());
  const auto observed = world.observe();
  EXPECT_EQ(foreign(observed), (std::vector<Pid>{world.strangers[1]}));
}

TEST(Observe, OneThatIsEndingThreadByThreadIsNobody) {
  SandboxWorld world(scenario());
  world.boot();
  (void)world.pass();
  const Pid stranger = world.strangers[1];
  (void)world.proc.add_thread(stranger);
  put(world, stranger, world.expected_sandbox_group());
  ASSERT_EQ(foreign(world.observe()).size(), 1U);
  world.proc.exit_thread(stranger);  // its leader went first
  EXPECT_TRUE(foreign(world.observe()).empty());
}

TEST(Observe, OneInKatasScopeIsForeignOnlyUnderSystemd) {
  for (const bool systemd : {true, false}) {
    SandboxWorld world(scenario(HierarchyMode::v2, systemd));
    world.boot();
    put(world, world.strangers[1], world.kata_group);
    EXPECT_EQ(foreign(world.observe()).size(), systemd ? 1U : 0U);
  }
}

TEST(Observe, WhoIsKilledInThePodIsCountedWhereverOurGroupIs) {
  for (const bool systemd : {true, false}) {
    SandboxWorld world(scenario(HierarchyMode::v2, systemd));
    world.boot();
    (void)world.pass();
    const auto observed = world.observe();
    const auto path = parse_cgroups_path(*observed.inputs.cgroups_path()).value();
    const auto* pod = observed.group({observed.host.hierarchies.front().name, path.pod});
    ASSERT_NE(pod, nullptr);
    EXPECT_TRUE(pod->file("memory.events")) << (systemd ? "nested" : "beside");
  }
}

TEST(Observe, OrphansInOurGroupKeepTheirProofOverARestart) {
  for (const auto mode : {HierarchyMode::v1, HierarchyMode::v2}) {
    SandboxWorld world(scenario(mode));
    world.boot();
    (void)world.pass();
    world.end_shim();
    world.restart_daemon();
    const auto observed = world.observe();
    EXPECT_FALSE(observed.gone);
    EXPECT_EQ(observed.first(ProcessRole::vmm)->facts.key.pid, world.vmm);
    EXPECT_NE(observed.first(ProcessRole::virtiofsd), nullptr);
    EXPECT_TRUE(observed.foreign.empty());
  }
}

TEST(Observe, AnOrphanElsewhereHasNone) {
  SandboxWorld world(scenario());
  world.boot();
  (void)world.pass();
  put(world, world.vmm, world.kata_group);
  world.end_shim();
  world.restart_daemon();
  EXPECT_EQ(world.observe().first(ProcessRole::vmm), nullptr);
}

TEST(Observe, AChildOfAStrangerIsNoOrphan) {
  SandboxWorld world(scenario());
  world.boot();
  (void)world.pass();
  const auto args = world.proc.process(world.vmm).args;
  const Pid parent = world.proc.start(1, {"sh", "/bin/sh", {"sh"}});
  const Pid fake = world.proc.start(parent, {"qemu", "/usr/bin/qemu-system-x86_64", args});
  put(world, fake, world.expected_sandbox_group());
  world.restart_daemon();
  EXPECT_EQ(foreign(world.observe()), (std::vector<Pid>{fake}));
}

TEST(Observe, OrphansKeepTheirProofByTheRecord) {
  SandboxWorld world(scenario());
  world.boot();
  (void)world.pass();
  put(world, world.vmm, world.kata_group);
  world.end_shim();
  EXPECT_NE(world.observe().first(ProcessRole::vmm), nullptr);
  // Another process under the same pid has none.
  const Pid pid = world.vmm;
  const auto facts = world.proc.process(pid);
  world.end_vmm();
  world.proc.start_as(pid, 1, {facts.comm, facts.exe, facts.args});
  EXPECT_EQ(world.observe().first(ProcessRole::vmm), nullptr);
}

TEST(Observe, AVcpuThatHasNotRunIsSaid) {
  SandboxWorld world(scenario());
  world.boot();
  EXPECT_FALSE(world.observe().kvm_incomplete);
  const Pid tid = world.plug_vcpu(false);
  EXPECT_TRUE(world.observe().kvm_incomplete);
  EXPECT_TRUE(world.observe().vcpus_missing);
  world.run_vcpu(tid);
  EXPECT_FALSE(world.observe().kvm_incomplete);
  EXPECT_FALSE(world.observe().vcpus_missing);
}

TEST(Observe, WithoutDebugfsTheSystemCallTells) {
  auto s = scenario();
  s.kvm_entries = false;
  SandboxWorld world(s);
  world.boot();
  for (const Pid tid : world.vcpus) world.proc.set_vcpu_ioctl(tid);
  const auto observed = world.observe();
  const auto& threads = observed.first(ProcessRole::vmm)->threads;
  EXPECT_EQ(std::count_if(threads.begin(), threads.end(),
                          [](const Thread& t) { return t.by == ClassSource::syscall; }),
            2);
}

TEST(Observe, AgesAreCountedFromTheVmm) {
  SandboxWorld world(scenario());
  world.start_shim();
  auto observed = world.observe();
  EXPECT_EQ(observed.vmm_age_ms, 0U);
  EXPECT_GT(observed.created, 0);
  world.start_vmm();
  const auto start_ms = world.proc.key(world.vmm).start * 10;
  observed = world.observe();
  const auto now_ms = static_cast<std::uint64_t>(world.clock.now().count() / 1000);
  EXPECT_EQ(observed.vmm_age_ms, now_ms - start_ms);
}

}  // namespace
}  // namespace kcg::test
