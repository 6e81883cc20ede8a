// SPDX-License-Identifier: Apache-2.0
//
// Proofs: command lines of every VMM, the shim's standing, ancestry, and the impostors.
#include "identify/prove.hpp"

#include <gtest/gtest.h>

#include "prove_facts.hpp"

namespace kcg {
namespace {

TEST(Prove, TheBundleIsKnownByItself) {
  auto in = inputs();
  in.bundle->directory_id = FileId{1, 2};
  auto facts = shim(10);
  EXPECT_TRUE(shim_problem(facts, in)) << "a path proves nothing where the directory is known";
  facts.cwd_id = FileId{1, 3};
  EXPECT_TRUE(shim_problem(facts, in));
  facts.cwd_id = FileId{1, 2};
  facts.cwd = "/var" + facts.cwd;
  EXPECT_FALSE(shim_problem(facts, in)) << "the same directory by another path";
}

TEST(Prove, StandingComesBeforeTheCommandLine) {
  auto facts = shim(10);
  facts.args.clear();
  facts.args_unknown = "it was not looked at";
  EXPECT_EQ(standing_problem(facts, inputs()), std::nullopt);
  EXPECT_TRUE(shim_problem(facts, inputs())) << "not known is not proven";
  auto in = inputs();
  in.bundle->shim_pid = 10;
  EXPECT_FALSE(shim_problem(facts, in)) << "the bundle's own file names it";
  facts.real_uid = 1000;
  EXPECT_TRUE(standing_problem(facts, inputs()));
  EXPECT_TRUE(node_problem(facts));
  in.registration = Registration();
  in.registration->vmm = facts.key;
  EXPECT_FALSE(standing_problem(facts, in)) << "a rootless VMM that root vouched for";
  in.registration.reset();
  facts.real_uid = 0;
  facts.cwd = "/run/bundles/k8s.io/other";
  EXPECT_TRUE(standing_problem(facts, in));
  in.containers.push_back(*in.bundle);
  in.containers.back().directory = facts.cwd;
  EXPECT_FALSE(standing_problem(facts, in)) << "the shim of one of its containers";
}

TEST(Prove, ShimByPidFileNeedsOtherProofOfKata) {
  auto renamed = shim(10);
  renamed.exe = "/opt/vendor/sandbox-shim";
  auto in = inputs();
  in.bundle->shim_pid = 10;
  EXPECT_TRUE(shim_problem(renamed, in)) << "a pid file alone also stands in runc's bundles";
  in.kata = KataState();
  EXPECT_FALSE(shim_problem(renamed, in));
  renamed.cwd = "/";
  EXPECT_TRUE(shim_problem(renamed, in));
  auto runc = shim(10);
  runc.exe = "/usr/bin/containerd-shim-runc-v2";
  EXPECT_TRUE(shim_problem(runc, in)) << "Kata's old state of the same id proves nothing here";
}

TEST(Prove, ShimWithoutBundleNeedsTheRegistration) {
  SandboxInputs in;
  in.id = id();
  in.kata = KataState();
  EXPECT_TRUE(shim_problem(shim(10), in));
  in.registration = Registration();
  in.registration->shim = shim(10).key;
  EXPECT_FALSE(shim_problem(shim(10), in));
  in.registration->shim->start += 1;
  EXPECT_TRUE(shim_problem(shim(10), in)) << "the pid was used again";
}

TEST(Prove, RolesByAncestry) {
  const struct {
    const char* name;
    std::vector<ProcFacts> candidates;
    const char* told;
  } rows[] = {
      {"nothing", {}, ""},
      {"a whole sandbox, any order",
       {virtiofsd(40, 30), qemu(20, 10), virtiofsd(30, 10), shim(10)},
       "10 shim, 20 vmm qemu, 30 virtiofsd, 40 virtiofsd"},
      {"VMM before helpers whatever its pid",
       {shim(10), virtiofsd(20, 10), qemu(30, 10)},
       "10 shim, 30 vmm qemu, 20 virtiofsd"},
      {"a VMM elsewhere", {shim(10), qemu(20, 1)}, "10 shim"},
      {"a VMM without a shim", {qemu(20, 10)}, ""},
      {"a VMM below a helper process",
       {shim(10), process(15, 10, "/bin/sh", {"sh"}), qemu(20, 15)},
       "10 shim, 20 vmm qemu, 15 descendant"},
      {"a fork of the shim before its exec", {shim(10), shim(11, 10)}, "10 shim, 11 descendant"},
      {"a fork with a smaller pid",
       {shim(11),
        [] {
          auto fork = shim(10, 11);
          fork.key.start = 110;
          return fork;
        }()},
       "11 shim, 10 descendant"},
      {"a fork of the VMM before its exec",
       {shim(10), qemu(20, 10), qemu(21, 20)},
       "10 shim, 20 vmm qemu, 21 descendant"},
      {"a file server below the VMM is just a child",
       {shim(10), qemu(20, 10), virtiofsd(30, 20)},
       "10 shim, 20 vmm qemu, 30 descendant"},
      {"unknown children",
       {shim(10), process(15, 10, "/bin/x", {"x"}), process(16, 15, "", {})},
       "10 shim, 15 descendant, 16 descendant"},
      {"another sandbox's VMM below the shim",
       {shim(10), process(20, 10, kQemu, {"q", "-name", "sandbox-other"})},
       "10 shim, 20 descendant"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(told(prove(inputs(), row.candidates)), row.told);
  }
}

TEST(Prove, ImpostorInAContainerIsNotProven) {
  auto impostor = shim(50, 45);
  impostor.same_root = false;
  impostor.same_pid_ns = false;
  EXPECT_EQ(told(prove(inputs(), {shim(10), qemu(20, 10), impostor, qemu(60, 50)})),
            "10 shim, 20 vmm qemu");
}

TEST(Prove, KernelThreadsAreNeverProven) {
  auto vhost = process(30, 20, "", {});
  vhost.comm = "vhost-20";
  vhost.kernel_thread = true;
  const FlatSet<Trusted> trusted = {{vhost.key, ProcessRole::descendant, Hypervisor::unknown}};
  EXPECT_EQ(told(prove(inputs(), {shim(10), qemu(20, 10), vhost}, trusted)),
            "10 shim, 20 vmm qemu");
}

TEST(Prove, LoopsAndMissingParentsEnd) {
  EXPECT_EQ(told(prove(inputs(), {process(20, 30, "x", {}), process(30, 20, "x", {})})), "");
  EXPECT_EQ(told(prove(inputs(), {process(20, 20, "x", {})})), "");
  auto a = shim(20, 30);
  auto b = shim(30, 20);
  a.key.start = b.key.start = 5;
  EXPECT_NO_FATAL_FAILURE((void)prove(inputs(), {a, b}));
  std::vector<ProcFacts> line = {shim(2)};
  for (Pid pid = 3; pid < 50'000; ++pid) line.push_back(process(pid, pid - 1, "x", {}));
  EXPECT_EQ(prove(inputs(), line).size(), line.size());
}

TEST(Prove, AParentYoungerThanItsChildIsAnotherProcess) {
  auto reused = shim(10);
  reused.key.start = 1'000'000;
  EXPECT_EQ(told(prove(inputs(), {reused, qemu(20, 10)})), "10 shim");
}

TEST(Prove, TrustedIdentitiesOutliveTheirParents) {
  const auto orphan = process(30, 1, "/bin/helper", {});
  const FlatSet<Trusted> trusted = {
      {qemu(20, 1).key, ProcessRole::vmm, Hypervisor::qemu},
      {orphan.key, ProcessRole::descendant, Hypervisor::unknown},
      {virtiofsd(40, 1).key, ProcessRole::virtiofsd, Hypervisor::unknown}};
  EXPECT_EQ(told(prove(inputs(), {qemu(20, 1), orphan, process(31, 30, "x", {}), virtiofsd(40, 1)},
                       trusted)),
            "20 vmm qemu, 30 descendant, 31 descendant, 40 virtiofsd");
  auto reused = orphan;
  reused.key.start += 1;
  EXPECT_EQ(told(prove(inputs(), {reused}, trusted)), "");
}

TEST(Prove, TheBestTrustedRoleCounts) {
  const auto vmm = process(20, 1, "/opt/vmm", {});
  const FlatSet<Trusted> trusted = {{vmm.key, ProcessRole::descendant, Hypervisor::unknown},
                                    {vmm.key, ProcessRole::vmm, Hypervisor::firecracker}};
  EXPECT_EQ(told(prove(inputs(), {vmm}, trusted)), "20 vmm firecracker");
}

TEST(Prove, ATrustedShimStaysWhenItsBundleIsGone) {
  auto in = inputs();
  in.bundle.reset();
  const FlatSet<Trusted> trusted = {{shim(10).key, ProcessRole::shim, Hypervisor::unknown}};
  EXPECT_EQ(told(prove(in, {shim(10), qemu(20, 10)}, trusted)), "10 shim, 20 vmm qemu");
  EXPECT_EQ(told(prove(in, {shim(10), qemu(20, 10)})), "");
}

TEST(Prove, ADaemonizedVmmIsRecognisedWhenItsParentEnds) {
  const auto in = inputs();
  const auto first = prove(in, {shim(10), qemu(20, 10), qemu(21, 20)});
  EXPECT_EQ(told(first), "10 shim, 20 vmm qemu, 21 descendant");
  FlatSet<Trusted> trusted;
  for (const auto& p : first) trusted.insert({p.facts.key, p.role, p.hypervisor});
  EXPECT_EQ(told(prove(in, {shim(10), qemu(21, 10)}, trusted)), "10 shim, 21 vmm qemu");
  EXPECT_EQ(told(prove(in, {shim(10), qemu(21, 1)}, trusted)), "10 shim, 21 vmm qemu");
}

TEST(Prove, Dragonball) {
  auto in = inputs();
  in.kata = KataState();
  in.kata->hypervisor = "dragonball";
  EXPECT_EQ(told(prove(in, {shim(10)})), "10 shim dragonball");
  in.kata->hypervisor = "remote";
  EXPECT_EQ(told(prove(in, {shim(10)})), "10 shim");
}

TEST(Prove, RegisteredProcesses) {
  auto in = inputs();
  in.registration = Registration();
  const auto vmm = process(20, 1, "/opt/qemu-kvm", {"anything"});
  in.registration->vmm = vmm.key;
  EXPECT_EQ(told(prove(in, {vmm, process(21, 20, "x", {})})), "20 vmm qemu, 21 descendant");
  const auto told_shim = process(10, 1, "/opt/any", {"any"});
  in.registration->shim = told_shim.key;
  EXPECT_EQ(told(prove(in, {vmm, told_shim, shim(12)})), "10 shim, 20 vmm qemu")
      << "the registered shim counts before one that only looks like it";
  in.registration->vmm->start += 1;
  EXPECT_EQ(told(prove(in, {vmm})), "");
}

TEST(Prove, ThePidFileDecidesBetweenTwoShims) {
  auto in = inputs();
  EXPECT_EQ(told(prove(in, {shim(10), shim(12)})), "10 shim");
  in.bundle->shim_pid = 12;
  EXPECT_EQ(told(prove(in, {shim(10), shim(12)})), "12 shim");
}

TEST(Prove, AContainersOwnShim) {
  auto in = inputs();
  Bundle container;
  container.id = "c1";
  container.type = BundleType::container;
  container.directory = "/run/bundles/k8s.io/c1";
  in.containers.push_back(container);
  auto own = process(15, 1, kShim, {kShim, "-id", "c1"});
  own.cwd = container.directory;
  EXPECT_EQ(told(prove(in, {own, shim(20), qemu(30, 20)})), "20 shim, 30 vmm qemu, 15 shim");
  own.cwd = kBundle;
  EXPECT_EQ(told(prove(in, {own, shim(20)})), "20 shim");
}

}  // namespace
}  // namespace kcg
