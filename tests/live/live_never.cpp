// SPDX-License-Identifier: Apache-2.0
//
// What is not proven to belong to a sandbox is never moved, whatever it calls itself. Each impostor
// claims a sandbox that exists; a second sandbox that is placed after it shows that the daemon has
// seen it and decided.
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "support/live/fixture.hpp"
#include "support/live/kernel.hpp"
#include "support/live/must.hpp"
#include "support/live/programs.hpp"
#include "support/live/wait.hpp"

namespace kcg::live {
namespace {

/// For the time between fork and exec.
void or_end(int failed) {
  if (failed != 0) ::_exit(1);
}

class LiveNever : public LiveTest {
 protected:
  void SetUp() override {
    LiveTest::SetUp();
    if (!IsSkipped()) start_daemon();
  }
  /// A program that does nothing, under any name, in a directory of its own.
  [[nodiscard]] std::string idle_program(const std::string& name) const {
    static int count = 0;
    const auto directory = fmt::format("{}/impostor-{}", node_->run_root(), ++count);
    std::filesystem::create_directories(directory);
    std::filesystem::copy_file(light_vmm(), directory + "/" + name);
    return directory + "/" + name;
  }
  /// The command line of a shim of `id`, in its bundle.
  [[nodiscard]] Command shim_like(const std::string& program, const Sandbox& of) const {
    Command command = of.shim_command();
    command.argv[0] = program;
    command.environment.clear();
    command.output = "/dev/null";
    return command;
  }
  [[nodiscard]] Command plain(std::vector<std::string> argv) const {
    Command command;
    command.argv = std::move(argv);
    command.groups = node_->corner().system();
    command.output = "/dev/null";
    return command;
  }
  /// Every managed hierarchy of the process still shows the group that it began in.
  void expect_untouched(int pid) const {
    const auto threads = threads_of(pid);
    EXPECT_FALSE(threads.empty());
    for (const auto& thread : threads)
      for (const char* const key : {"cpu", "cpuset", "memory", "pids", ""})
        EXPECT_EQ(thread.groups.at(key), node_->corner().top() + "/system") << key;
  }
  /// The program runs when its argv shows in /proc: before that it is still the test's copy.
  static void wait_for_exec(const Child& child, const std::string& argv0) {
    ASSERT_TRUE(wait_until([&] {
      const auto arguments = arguments_of(child.pid());
      return !arguments.empty() && arguments[0] == argv0;
    })) << argv0;
  }
};

TEST_P(LiveNever, ShimsThatAreNone) {
  const auto real = placed();
  const std::string name = "containerd-shim-kata-v2";
  const auto with = [&](std::function<void(Command&)> change) {
    auto command = shim_like(idle_program(name), *real);
    change(command);
    return command;
  };
  const auto inside = [](const std::string& program) {
    const auto directory = std::filesystem::path(program).parent_path().string();
    // The working directory stays outside, in the bundle: only the root gives it away.
    return [directory] { or_end(::chroot(directory.c_str())); };
  };
  struct Row {
    const char* what;
    Command command;
  };
  const std::vector<Row> rows = {
      {"in a container's root", with([&](Command& c) {
         c.before_exec = inside(c.argv[0]);
         c.program = "/" + name;
       })},
      {"in a user namespace",
       with([](Command& c) { c.before_exec = [] { or_end(::unshare(CLONE_NEWUSER)); }; })},
      {"not root",
       with([](Command& c) { c.before_exec = [] { or_end(::setresuid(1000, 1000, 1000)); }; })},
      {"not in its bundle", with([](Command& c) { c.directory = "/"; })},
      {"the start helper", with([](Command& c) { c.argv.emplace_back("start"); })},
      {"the delete helper", with([](Command& c) { c.argv.emplace_back("delete"); })},
      {"another runtime's shim", shim_like(idle_program("containerd-shim-runc-v2"), *real)},
      {"another id", with([&](Command& c) { c.argv.back() = real->id() + "0"; })},
      {"part of the id", with([&](Command& c) { c.argv.back().pop_back(); })},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    const auto impostor = Child::start(row.command);
    wait_for_exec(impostor, row.command.argv[0]);
    const auto control = placed({.pod = "podcontrol", .light = true});
    expect_untouched(impostor.pid());
    EXPECT_EQ(misplaced(*real, real->truth()), "");
    control->end();
  }
}

/// What the impostors of this file lack: nothing else keeps them where they are.
TEST_P(LiveNever, ButAShimWithoutAFlawIsMoved) {
  const auto sandbox = node_->sandbox();
  const auto shim = Child::start(shim_like(idle_program("containerd-shim-kata-v2"), *sandbox));
  EXPECT_TRUE(wait_until([&] {
    return groups_of(shim.pid())[v1() ? "memory" : ""].rfind(sandbox->group(), 0) == 0;
  })) << groups_of(shim.pid())[v1() ? "memory" : ""];
}

TEST_P(LiveNever, ShimInAPidNamespace) {
  const auto real = placed();
  auto command = shim_like(idle_program("containerd-shim-kata-v2"), *real);
  command.before_exec = [] {
    // The namespace is entered by the next child; its parent stays to end with the test.
    or_end(::unshare(CLONE_NEWPID));
    const int inner = ::fork();
    if (inner > 0) {
      for (;;) ::pause();
    }
  };
  const auto parent = Child::start(command);
  std::vector<int> inner;
  ASSERT_TRUE(wait_until([&] {
    inner = children_of(parent.pid());
    return inner.size() == 1 && arguments_of(inner[0])[0] == command.argv[0];
  }));
  const auto control = placed({.pod = "podcontrol", .light = true});
  expect_untouched(inner[0]);
}

TEST_P(LiveNever, VmmsThatAreNone) {
  const auto real = placed({.standin = {{"HELPER", "1"}}});
  const auto qemu = idle_program("qemu-system-x86_64");
  const auto shared = "/run/kata-containers/shared/sandboxes/" + real->id() + "/shared";
  const std::vector<std::vector<std::string>> lines = {
      {qemu, "-name", "sandbox-" + real->id()},
      {qemu, "-name", "sandbox-" + real->id() + ",debug-threads=on"},
      {qemu, "-name", "sandbox-" + real->id() + "0"},
      {qemu, "-name", "my-sandbox-" + real->id()},
      {idle_program("cloud-hypervisor"), "--api-socket", "/run/vc/vm/" + real->id() + "/clh.sock"},
      {idle_program("firecracker"), "--id", real->id().substr(0, 32)},
      {idle_program("virtiofsd"), "--shared-dir=" + node_->run_root() + shared},
      {idle_program("sleep"), real->id()},
  };
  std::vector<Child> strangers;
  for (const auto& line : lines) {
    strangers.push_back(Child::start(plain(line)));
    wait_for_exec(strangers.back(), line[0]);
  }
  const auto control = placed({.pod = "podcontrol"});
  for (std::size_t i = 0; i < lines.size(); ++i) {
    SCOPED_TRACE(lines[i][0] + " " + lines[i].back());
    expect_untouched(strangers[i].pid());
  }
  EXPECT_EQ(misplaced(*real, real->truth()), "");
}

TEST_P(LiveNever, PidsOfStrangersInFilesThatOthersWrite) {
  const auto stranger = Child::start(plain({idle_program("sleep"), "1000"}));
  const auto claimed = node_->sandbox({.pod = "podclaimed"});
  std::ofstream(claimed->bundle() + "/shim.pid") << stranger.pid();
  const auto state = node_->run_root() + "/run/vc/sbs/" + claimed->id();
  std::filesystem::create_directories(state);
  std::ofstream(state + "/persist.json")
      << fmt::format(R"({{"State":"running","SandboxContainer":"{}","HypervisorState":{{"Pid":{},)"
                     R"("Type":"qemu","VirtiofsDaemonPid":{}}},"Config":)"
                     R"({{"SandboxCgroupOnly":true}}}})",
                     claimed->id(), stranger.pid(), stranger.pid());
  const auto control = placed({.pod = "podcontrol"});
  expect_untouched(stranger.pid());
}

TEST_P(LiveNever, RuncsBundle) {
  const std::string id(64, 'c');
  const auto pod = node_->corner().top() + "/kubepods/podrunc";
  node_->corner().make(pod);
  const auto bundle = write_bundle(
      node_->run_root(), {id, id, pod + "/" + id, "/usr/bin/containerd-shim-runc-v2", {}, {}});
  auto command =
      plain({idle_program("containerd-shim-runc-v2"), "-namespace", "k8s.io", "-id", id});
  command.directory = bundle;
  const auto shim = Child::start(command);
  wait_for_exec(shim, command.argv[0]);
  const auto control = placed({.pod = "podcontrol"});
  expect_untouched(shim.pid());
  EXPECT_TRUE(node_->corner().find("kata-sandbox-" + id).empty());
}

TEST_P(LiveNever, ReusedPidOfAVmm) {
  const auto sandbox = placed();
  const auto vmm = sandbox->truth().vmm;
  sandbox->ask("kill-vmm");
  auto command = plain({idle_program("sleep"), "1000"});
  command.wanted_pid = vmm;
  const auto stranger = Child::start(command);
  ASSERT_EQ(stranger.pid(), vmm);
  wait_for_exec(stranger, command.argv[0]);
  const auto control = placed({.pod = "podcontrol"});
  expect_untouched(stranger.pid());
  sandbox->end();
  EXPECT_EQ(gone(*sandbox), "");
  expect_untouched(stranger.pid());
}

TEST_P(LiveNever, GroupsWithoutOurMark) {
  const auto sandbox = node_->sandbox();
  const auto lookalike = sandbox->pod_group() + "/kata-sandbox-" + std::string(64, 'f');
  node_->corner().make(lookalike);
  sandbox->start();
  EXPECT_EQ(settle(*sandbox), "");
  daemon_->kill9();
  daemon_->start();
  EXPECT_EQ(settle(*sandbox), "");
  for (const auto& mount : node_->corner().managed())
    EXPECT_TRUE(exists(mount.path + lookalike)) << mount.path;
}

KCG_ON_BOTH_TREES(LiveNever);

}  // namespace
}  // namespace kcg::live
