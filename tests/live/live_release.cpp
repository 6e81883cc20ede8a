// SPDX-License-Identifier: Apache-2.0
//
// Sandboxes are given back while no daemon enforces: the kernel says that every thread is with Kata
// again, that nothing of ours is left, and a daemon that comes back places them anew.
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "integration/bus_stand.hpp"
#include "integration/private_bus.hpp"
#include "support/live/fixture.hpp"
#include "support/live/kernel.hpp"
#include "support/live/must.hpp"
#include "support/live/programs.hpp"
#include "support/live/wait.hpp"

namespace kcg::live {
namespace {

/// Value: what cgctl said.
struct Said {
  int status = -1;
  std::string text;
};

class LiveRelease : public LiveTest {
 protected:
  [[nodiscard]] std::unique_ptr<Sandbox> placed_in(const std::string& pod) const {
    return placed({.pod = pod, .light = true, .vcpus = 2, .standin = {{"HELPER", "1"}}});
  }
  [[nodiscard]] Said cgctl(std::vector<std::string> arguments,
                           const std::string& bus = "unix:path=/nonexistent") const {
    const auto output = node_->run_root() + "/cgctl.out";
    const auto config = node_->run_root() + "/cgctl.toml";
    std::filesystem::remove(output);
    std::ofstream(config) << (v1() ? "" : "[cgroup]\nhierarchy = \"v2\"\n");
    const auto root =
        v1() ? std::string("/sys/fs/cgroup") : must(standin::find_mounts("v2")).front().path;
    Command command;
    command.argv = {built("tools/cgctl/cgctl")};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    for (const auto& word :
         {std::string("--config"), config, std::string("--run-root"), node_->run_root(),
          std::string("--cgroup-root"), root, std::string("--bus"), bus})
      command.argv.push_back(word);
    command.output = output;
    auto child = Child::start(command);
    const auto status = child.wait(kPatience);
    return {status && WIFEXITED(*status) ? WEXITSTATUS(*status) : -1, slurp(output)};
  }
  /// "" when every thread is in Kata's own group wherever the daemon had placed it.
  [[nodiscard]] std::string not_back(const Sandbox& sandbox) const {
    const auto truth = sandbox.truth();
    auto pids = truth.helpers;
    pids.insert(pids.end(), {truth.shim, truth.vmm});
    std::string wrong;
    for (const int pid : pids) {
      const auto threads = threads_of(pid);
      if (threads.empty()) wrong += fmt::format("process {} is gone\n", pid);
      for (const auto& thread : threads)
        for (const auto* key : v1() ? kV1 : kV2)
          if (const auto& is = thread.groups.at(key); is != sandbox.kata_group())
            wrong +=
                fmt::format("{} ({}) of {} is in {}:{}\n", thread.tid, thread.comm, pid, key, is);
    }
    return wrong;
  }
  /// Groups of the corner that carry a mark.
  [[nodiscard]] std::string marked() const {
    std::string found;
    for (const auto& mount : node_->corner().managed())
      for (const auto& group : directories(mount.path + node_->corner().top()))
        if (mark_of(group)) found += group + "\n";
    return found;
  }

 private:
  static inline const std::vector<const char*> kV1 = {"cpu", "cpuacct", "memory", "blkio", "pids"};
  static inline const std::vector<const char*> kV2 = {""};
};

TEST_P(LiveRelease, EverythingGoesBackAndADaemonPlacesItAgain) {
  start_daemon({.config = "[sizing]\nmemory = \"always\"\n"});
  const auto one = placed_in("podone");
  const auto two = placed_in("podtwo");
  ASSERT_EQ(daemon_->terminate(), 0);
  const auto before = cgctl({"uninstall-check"});
  EXPECT_EQ(before.status, 4) << before.text;
  EXPECT_NE(before.text.find(one->id()), std::string::npos) << before.text;
  EXPECT_NE(marked(), "");

  const auto released = cgctl({"release"});
  EXPECT_EQ(released.status, 0) << released.text;
  for (const auto* sandbox : {one.get(), two.get()}) {
    EXPECT_EQ(not_back(*sandbox), "");
    EXPECT_EQ(gone(*sandbox), "") << "with the groups their limits are gone";
  }
  EXPECT_EQ(marked(), "");
  const auto after = cgctl({"uninstall-check"});
  EXPECT_EQ(after.status, 0) << after.text;
  EXPECT_EQ(after.text.find(one->id()), std::string::npos) << after.text;
  EXPECT_EQ(cgctl({"release"}).status, 0) << "twice is as good as once";

  daemon_->start();
  for (const auto* sandbox : {one.get(), two.get()}) {
    EXPECT_EQ(settle(*sandbox), "");
    EXPECT_EQ(unmarked(*sandbox), "");
  }
}

TEST_P(LiveRelease, OnlyTheOneThatWasNamed) {
  start_daemon();
  const auto one = placed_in("podone");
  const auto two = placed_in("podtwo");
  ASSERT_EQ(daemon_->terminate(), 0);
  const auto released = cgctl({"release", one->id(), "--json"});
  EXPECT_EQ(released.status, 0) << released.text;
  EXPECT_EQ(not_back(*one), "");
  EXPECT_EQ(gone(*one), "");
  EXPECT_EQ(misplaced(*two, two->truth()), "");
  EXPECT_EQ(unmarked(*two), "");
  EXPECT_EQ(cgctl({"uninstall-check"}).status, 4);
  EXPECT_EQ(cgctl({"release", "no-such-pod"}).status, 3);
}

TEST_P(LiveRelease, ARunningDaemonMustObserve) {
  integration::PrivateBus bus(integration::Policy::installed);
  bus.start();
  start_daemon({.bus = bus.address()});
  const auto sandbox = placed_in("podone");
  for (const auto& reached : {bus.address(), std::string("unix:path=/nonexistent")}) {
    const auto refused = cgctl({"release"}, reached);
    EXPECT_EQ(refused.status, 1) << refused.text;
    EXPECT_NE(refused.text.find("systemctl stop kata-cgroupd"), std::string::npos) << refused.text;
  }
  EXPECT_EQ(misplaced(*sandbox, sandbox->truth()), "");
  ASSERT_EQ(daemon_->terminate(), 0);

  start_daemon({.arguments = {"--observe"}, .bus = bus.address()});
  const auto released = cgctl({"release"}, bus.address());
  EXPECT_EQ(released.status, 0) << released.text;
  EXPECT_EQ(not_back(*sandbox), "");
  EXPECT_EQ(gone(*sandbox), "");
}

TEST_P(LiveRelease, AStrangerStaysAndIsNamed) {
  start_daemon();
  const auto sandbox = placed_in("podone");
  ASSERT_EQ(daemon_->terminate(), 0);
  Command command;
  command.argv = {"/usr/bin/tail", "-f", "/dev/null"};
  command.groups = node_->corner().system();
  const auto stranger = Child::start(command);
  // Until it executes it is on its way into the test's own groups.
  ASSERT_TRUE(wait_until([&] {
    const auto arguments = arguments_of(stranger.pid());
    return !arguments.empty() && arguments[0] == command.argv[0];
  }));
  const auto pid = std::to_string(stranger.pid());
  const auto inside = node_->corner().directory(sandbox->group() + "/shim");
  ASSERT_EQ(scribble(inside + "/cgroup.procs", pid), 0);
  const auto released = cgctl({"release"});
  EXPECT_EQ(released.status, 4) << released.text;
  EXPECT_NE(released.text.find(pid), std::string::npos) << released.text;
  EXPECT_EQ(not_back(*sandbox), "");
  EXPECT_TRUE(exists(inside)) << "he is left where he was";
  EXPECT_TRUE(stranger.running());
}

KCG_ON_BOTH_TREES(LiveRelease);

}  // namespace
}  // namespace kcg::live
