// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "identify/prove.hpp"
#include "prove_facts.hpp"

namespace kcg {
namespace {

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
    auto facts = process(1, 0, row.exe, row.args);
    EXPECT_EQ(shim_sandbox_id(facts), row.id);
    facts.args = telling_args(facts.exe, facts.args);
    EXPECT_EQ(shim_sandbox_id(facts), row.id) << "by what is kept of it";
  }
}

const struct {
  const char* name;
  const char* exe;
  Args args;
  Hypervisor hypervisor;
} kHypervisors[] = {
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
    {"Firecracker of another id", "/usr/bin/firecracker", {"f", "--id", "%0"}, Hypervisor::unknown},
    {"the shim before its child's exec", kShim, {"x", "--id", "%"}, Hypervisor::unknown},
    {"nothing", "/bin/sh", {}, Hypervisor::unknown},
    {"a value is no option, whatever it looks like",
     "/usr/bin/vmm",
     {"v", "--api-sock", "--api-socket", "/run/vc/vm/$/s"},
     Hypervisor::unknown},
    {"a file server is no VMM, whatever its arguments look like",
     "/usr/libexec/virtiofsd",
     {"v", "--api-socket", "/run/vc/vm/$/s", "--api-sock=/run/$/s"},
     Hypervisor::unknown},
};

TEST(Prove, HypervisorOf) {
  for (const auto& row : kHypervisors) {
    SCOPED_TRACE(row.name);
    auto facts = process(2, 1, row.exe, row.args);
    EXPECT_EQ(hypervisor_of(facts, id()), row.hypervisor);
    facts.args = telling_args(facts.exe, facts.args);
    EXPECT_EQ(hypervisor_of(facts, id()), row.hypervisor) << "by what is kept of it";
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
    auto facts = process(2, 1, row.exe, row.args);
    EXPECT_EQ(is_virtiofsd(facts, id()), row.yes);
    facts.args = telling_args(facts.exe, facts.args);
    EXPECT_EQ(is_virtiofsd(facts, id()), row.yes) << "by what is kept of it";
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

TEST(Prove, LittleIsKeptOfALongCommandLine) {
  const auto bytes = [](const Args& args) {
    std::size_t sum = 0;
    for (const auto& arg : args) sum += arg.size();
    return sum;
  };
  Args many{"x"};
  for (int i = 0; i < 5000; ++i) {
    many.emplace_back("-name");
    many.emplace_back(100, '/');
  }
  Args long_ones{std::string(100'000, 'x'), "-name", std::string(100'000, 'y'), "-m", "512M"};
  for (const char* exe : {kShim, kQemu, "/usr/libexec/virtiofsd"}) {
    SCOPED_TRACE(exe);
    EXPECT_LE(bytes(telling_args(exe, many)), 16U << 10);
    EXPECT_LE(bytes(telling_args(exe, long_ones)), 16U << 10);
    EXPECT_TRUE(telling_args(exe, {}).empty());
  }
  EXPECT_EQ(telling_args(kQemu, long_ones).back(), "512M");
  EXPECT_EQ(telling_args(kQemu, {"q", "-m"}), Args{"q"}) << "an option without its value";
}

}  // namespace
}  // namespace kcg
