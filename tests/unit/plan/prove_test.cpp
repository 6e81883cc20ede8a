// SPDX-License-Identifier: Apache-2.0
//
// Proofs: command lines of every VMM, the shim's standing, ancestry, and the impostors.
#include "plan/prove.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace kcg {
namespace {

constexpr const char* kId = "0cb619b857a88e4c469a22c6afae6a66aa6de0f21c035216d81a5a85dc857cce";
constexpr const char* kShort = "0cb619b857a88e4c469a22c6afae6a66";
constexpr const char* kBundle = "/run/bundles/k8s.io/id";
constexpr const char* kShim = "/opt/kata/bin/containerd-shim-kata-v2";
constexpr const char* kQemu = "/usr/bin/qemu-system-x86_64";

using Args = std::vector<std::string>;

SandboxId id() { return SandboxId::parse(kId).value(); }

/// "$" in an argument stands for the id, "%" for its first 32 characters.
Args expand(Args args) {
  for (auto& arg : args) {
    if (const auto at = arg.find('$'); at != std::string::npos) arg.replace(at, 1, kId);
    if (const auto at = arg.find('%'); at != std::string::npos) arg.replace(at, 1, kShort);
  }
  return args;
}

ProcFacts process(Pid pid, Pid ppid, std::string exe, Args args) {
  ProcFacts facts;
  facts.key = {pid, static_cast<std::uint64_t>(pid) * 10};
  facts.ppid = ppid;
  facts.exe = std::move(exe);
  facts.args = expand(std::move(args));
  facts.cwd = "/";
  facts.same_pid_ns = facts.same_user_ns = facts.same_root = true;
  return facts;
}

ProcFacts shim(Pid pid, Pid ppid = 1) {
  auto facts = process(pid, ppid, kShim,
                       {kShim, "-namespace", "k8s.io", "-address", "/run/c.sock", "-publish-binary",
                        "", "-id", "$"});
  facts.cwd = kBundle;
  return facts;
}

ProcFacts qemu(Pid pid, Pid ppid) {
  return process(pid, ppid, kQemu, {kQemu, "-name", "sandbox-$", "-uuid", "u", "-m", "512M"});
}

ProcFacts virtiofsd(Pid pid, Pid ppid) {
  return process(pid, ppid, "/usr/libexec/virtiofsd",
                 {"virtiofsd", "--shared-dir=/run/kata-containers/shared/sandboxes/$/shared"});
}

SandboxInputs inputs() {
  SandboxInputs out;
  out.id = id();
  out.bundle = Bundle();
  out.bundle->id = out.bundle->sandbox_id = kId;
  out.bundle->directory = kBundle;
  out.bundle->type = BundleType::sandbox;
  return out;
}

/// "10 shim, 20 vmm qemu, ..." in the order of the answer.
std::string told(const std::vector<Process>& processes) {
  std::string out;
  for (const auto& p : processes) {
    if (!out.empty()) out += ", ";
    out += std::to_string(p.facts.key.pid) + " " + std::string(name(p.role));
    if (p.hypervisor != Hypervisor::unknown) out += " " + std::string(name(p.hypervisor));
  }
  return out;
}

TEST(Prove, ShimSandboxId) {
  const struct {
    const char* name;
    const char* exe;
    Args args;
    std::optional<std::string> id;
  } rows[] = {
      {"long-lived", kShim, {"x", "-namespace", "k8s.io", "-id", "abc"}, "abc"},
      {"empty value before it", kShim, {"x", "-publish-binary", "", "-id", "abc"}, "abc"},
      {"equals sign", kShim, {"x", "-id=abc"}, "abc"},
      {"two dashes", kShim, {"x", "--id", "abc"}, "abc"},
      {"flag without value before it", kShim, {"x", "-debug", "-id", "abc"}, "abc"},
      {"start helper", kShim, {"x", "-id", "abc", "start"}, std::nullopt},
      {"start helper, flags after", kShim, {"x", "start", "-id", "abc"}, std::nullopt},
      {"delete helper", kShim, {"x", "-id", "abc", "-bundle", "/b", "delete"}, std::nullopt},
      {"a sandbox called start", kShim, {"x", "-id", "start"}, "start"},
      {"a namespace called delete", kShim, {"x", "-namespace", "delete", "-id", "abc"}, "abc"},
      {"an id inside another value", kShim, {"x", "-address", "-id", "abc"}, std::nullopt},
      {"no id", kShim, {"x", "-namespace", "k8s.io"}, std::nullopt},
      {"id without value", kShim, {"x", "-id"}, std::nullopt},
      {"empty id", kShim, {"x", "-id", ""}, std::nullopt},
      {"no arguments at all", kShim, {}, std::nullopt},
      {"other variant of the shim", "/x/containerd-shim-kata-qemu-v2", {"x", "-id", "abc"}, "abc"},
      {"runc's shim", "/usr/bin/containerd-shim-runc-v2", {"x", "-id", "abc"}, std::nullopt},
      {"name elsewhere in the path",
       "/containerd-shim-kata-v2/sh",
       {"x", "-id", "a"},
       std::nullopt},
      {"no executable", "", {"x", "-id", "abc"}, std::nullopt},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(shim_sandbox_id(process(1, 0, row.exe, row.args)), row.id);
  }
}

TEST(Prove, HypervisorOf) {
  const struct {
    const char* name;
    const char* exe;
    Args args;
    Hypervisor hypervisor;
  } rows[] = {
      {"QEMU", kQemu, {"q", "-name", "sandbox-$", "-uuid", "u"}, Hypervisor::qemu},
      {"QEMU with options", kQemu, {"q", "-name", "sandbox-$,debug-threads=on"}, Hypervisor::qemu},
      {"QEMU, two dashes", kQemu, {"q", "--name", "sandbox-$"}, Hypervisor::qemu},
      {"QEMU takes no equals sign", kQemu, {"q", "-name=sandbox-$"}, Hypervisor::unknown},
      {"QEMU of a longer id", kQemu, {"q", "-name", "sandbox-$0"}, Hypervisor::unknown},
      {"QEMU of a shorter id", kQemu, {"q", "-name", "sandbox-%"}, Hypervisor::unknown},
      {"QEMU without prefix", kQemu, {"q", "-name", "$"}, Hypervisor::unknown},
      {"the guest's command line", kQemu, {"q", "-append", "-name sandbox-$"}, Hypervisor::unknown},
      {"the guest's command line, split",
       kQemu,
       {"q", "-append", "-name", "sandbox-$"},
       Hypervisor::unknown},
      {"name without value", kQemu, {"q", "-name"}, Hypervisor::unknown},
      {"StratoVirt", "/usr/bin/stratovirt", {"s", "-name", "sandbox-$"}, Hypervisor::stratovirt},
      {"Cloud Hypervisor",
       "/usr/bin/cloud-hypervisor",
       {"c", "--api-socket", "/run/vc/vm/$/clh-api.sock"},
       Hypervisor::cloud_hypervisor},
      {"Cloud Hypervisor, equals sign",
       "/usr/bin/cloud-hypervisor",
       {"c", "--api-socket=/run/vc/vm/$/clh-api.sock"},
       Hypervisor::cloud_hypervisor},
      {"Cloud Hypervisor, path=",
       "/usr/bin/cloud-hypervisor",
       {"c", "--api-socket", "path=/run/vc/vm/$/clh-api.sock"},
       Hypervisor::cloud_hypervisor},
      {"Cloud Hypervisor of a longer id",
       "/usr/bin/cloud-hypervisor",
       {"c", "--api-socket", "/run/vc/vm/$x/clh-api.sock"},
       Hypervisor::unknown},
      {"the id in another option",
       "/usr/bin/cloud-hypervisor",
       {"c", "--kernel", "/run/vc/vm/$/vmlinux"},
       Hypervisor::unknown},
      {"OpenVMM",
       "/usr/bin/openvmm",
       {"o", "--ttrpc", "/run/vc/vm/$/openvmm.sock"},
       Hypervisor::openvmm},
      {"Firecracker by id", "/usr/bin/firecracker", {"f", "--id", "%"}, Hypervisor::firecracker},
      {"Firecracker by socket",
       "/usr/bin/firecracker",
       {"f", "--api-sock", "/run/vc/firecracker/%/root/fc.sock"},
       Hypervisor::firecracker},
      {"Firecracker of another id",
       "/usr/bin/firecracker",
       {"f", "--id", "%0"},
       Hypervisor::unknown},
      {"the shim before its child's exec", kShim, {"x", "--id", "%"}, Hypervisor::unknown},
      {"nothing", "/bin/sh", {}, Hypervisor::unknown},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(hypervisor_of(process(2, 1, row.exe, row.args), id()), row.hypervisor);
  }
}

TEST(Prove, FirecrackerOfAShortId) {
  const auto short_id = SandboxId::parse("web").value();
  EXPECT_EQ(hypervisor_of(process(2, 1, "/usr/bin/firecracker", {"f", "--id", "web"}), short_id),
            Hypervisor::firecracker);
  EXPECT_EQ(hypervisor_of(process(2, 1, "/usr/bin/firecracker", {"f", "--id", "webs"}), short_id),
            Hypervisor::unknown);
}

TEST(Prove, Virtiofsd) {
  const struct {
    const char* name;
    const char* exe;
    Args args;
    bool yes;
  } rows[] = {
      {"shared directory",
       "/usr/libexec/virtiofsd",
       {"v", "--shared-dir=/run/kata-containers/shared/sandboxes/$/shared"},
       true},
      {"socket",
       "/usr/libexec/virtiofsd",
       {"v", "--socket-path", "/run/vc/vm/$/vhost-fs.sock"},
       true},
      {"old option syntax",
       "/usr/libexec/virtiofsd",
       {"v", "-o", "cache=auto,source=/run/$/shared"},
       true},
      {"nydusd", "/usr/bin/nydusd", {"n", "--sock", "/run/vc/vm/$/nydusd.sock"}, true},
      {"longer component", "/usr/libexec/virtiofsd", {"v", "--shared-dir=/run/$-2/shared"}, false},
      {"the id alone is no path", "/usr/libexec/virtiofsd", {"v", "--tag=$"}, false},
      {"another program", "/usr/bin/swtpm", {"s", "--ctrl", "path=/run/vc/vm/$/tpm.sock"}, false},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(is_virtiofsd(process(2, 1, row.exe, row.args), id()), row.yes);
  }
}

TEST(Prove, ShimStanding) {
  const auto with = [](auto change) {
    auto facts = shim(10);
    change(facts);
    return facts;
  };
  const struct {
    const char* name;
    ProcFacts facts;
    const char* problem;  ///< part of the reason, "" = proven
  } rows[] = {
      {"a shim", shim(10), ""},
      {"bundle removed meanwhile", with([](ProcFacts& f) { f.cwd += " (deleted)"; }), ""},
      {"user", with([](ProcFacts& f) { f.real_uid = 1000; }), "user is 1000"},
      {"pid namespace", with([](ProcFacts& f) { f.same_pid_ns = false; }), "pid namespace"},
      {"user namespace", with([](ProcFacts& f) { f.same_user_ns = false; }), "user namespace"},
      {"root directory", with([](ProcFacts& f) { f.same_root = false; }), "root directory"},
      {"working directory", with([](ProcFacts& f) { f.cwd = "/run/bundles/k8s.io"; }),
       "working dir"},
      {"other id", with([](ProcFacts& f) { f.args.back() = "other"; }), "-id is other"},
      {"longer id", with([](ProcFacts& f) { f.args.back() += "0"; }), "-id is"},
      {"helper", with([](ProcFacts& f) { f.args.emplace_back("start"); }), "helper"},
      {"runc's shim", with([](ProcFacts& f) { f.exe = "/usr/bin/containerd-shim-runc-v2"; }),
       "another runtime"},
      {"another program", with([](ProcFacts& f) { f.exe = "/bin/sh"; }), "neither"},
      {"kernel thread", with([](ProcFacts& f) { f.kernel_thread = true; }), "kernel thread"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto problem = shim_problem(row.facts, inputs());
    EXPECT_EQ(!problem, std::string_view(row.problem).empty()) << problem.value_or("");
    EXPECT_NE(problem.value_or("").find(row.problem), std::string::npos) << *problem;
    EXPECT_EQ(told(prove(inputs(), {row.facts})), *row.problem == '\0' ? "10 shim" : "");
  }
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
  const std::set<Trusted> trusted = {{vhost.key, ProcessRole::descendant, Hypervisor::unknown}};
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
  const std::set<Trusted> trusted = {
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
  const std::set<Trusted> trusted = {{vmm.key, ProcessRole::descendant, Hypervisor::unknown},
                                     {vmm.key, ProcessRole::vmm, Hypervisor::firecracker}};
  EXPECT_EQ(told(prove(inputs(), {vmm}, trusted)), "20 vmm firecracker");
}

TEST(Prove, ATrustedShimStaysWhenItsBundleIsGone) {
  auto in = inputs();
  in.bundle.reset();
  const std::set<Trusted> trusted = {{shim(10).key, ProcessRole::shim, Hypervisor::unknown}};
  EXPECT_EQ(told(prove(in, {shim(10), qemu(20, 10)}, trusted)), "10 shim, 20 vmm qemu");
  EXPECT_EQ(told(prove(in, {shim(10), qemu(20, 10)})), "");
}

TEST(Prove, ADaemonizedVmmIsRecognisedWhenItsParentEnds) {
  const auto in = inputs();
  const auto first = prove(in, {shim(10), qemu(20, 10), qemu(21, 20)});
  EXPECT_EQ(told(first), "10 shim, 20 vmm qemu, 21 descendant");
  std::set<Trusted> trusted;
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
