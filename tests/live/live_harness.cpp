// SPDX-License-Identifier: Apache-2.0
//
// The ground that the other live tests stand on: without a daemon the stand-ins behave as Kata's
// programs do, the kernel shows it, and nothing stays behind.
#include <signal.h>

#include <algorithm>

#include "support/live/fixture.hpp"
#include "support/live/kernel.hpp"
#include "support/live/must.hpp"
#include "support/live/programs.hpp"
#include "support/live/wait.hpp"
#include "support/live/witness.hpp"

namespace kcg::live {
namespace {

class LiveHarness : public LiveTest {
 protected:
  /// The group of a task in the first managed hierarchy.
  [[nodiscard]] std::string at(int tid) const { return groups_of(tid)[v1() ? "memory" : ""]; }
};

TEST_P(LiveHarness, ShimMovesItselfAndForksIntoItsOwnGroup) {
  const auto sandbox = node_->sandbox({.vcpus = 2, .standin = {{"HELPER", "1"}}});
  sandbox->start();
  const auto truth = sandbox->truth();
  EXPECT_EQ(truth.shim, sandbox->shim().pid());
  EXPECT_EQ(truth.vcpus.size(), 2U);
  EXPECT_EQ(truth.ios.size(), 1U);
  EXPECT_EQ(truth.helpers.size(), 2U);
  EXPECT_EQ(at(truth.shim), sandbox->kata_group());
  for (const auto& thread : threads_of(truth.vmm)) {
    EXPECT_EQ(at(thread.tid), sandbox->kata_group());
    EXPECT_TRUE(thread.comm == "qemu-system-x86" || thread.comm == "kvm-nx-lpage-re")
        << thread.comm;
  }
  EXPECT_EQ(groups_of(truth.vmm)["devices"], "/") << "an unmanaged hierarchy was touched";
  EXPECT_NE(misplaced(*sandbox, truth), "") << "nobody has placed anything yet";
  EXPECT_NE(unmarked(*sandbox), "");
}

TEST_P(LiveHarness, ThreadsCarryNamesWhenAsked) {
  const auto sandbox = node_->sandbox({.names = true});
  sandbox->start();
  const auto threads = threads_of(sandbox->truth().vmm);
  for (const char* const name : {"CPU 0/KVM", "IO io0"})
    EXPECT_EQ(std::count_if(threads.begin(), threads.end(),
                            [&](const Seen& t) { return t.comm == name; }),
              1)
        << name;
}

TEST_P(LiveHarness, HotpluggedVcpuIsBornBesideTheMainThread) {
  const auto sandbox = node_->sandbox({.standin = {{"MAX_VCPUS", "2"}}});
  sandbox->start();
  const auto tid = std::stoi(sandbox->ask("hotplug"));
  EXPECT_EQ(at(tid), sandbox->kata_group());
  EXPECT_EQ(sandbox->truth().vcpus.size(), 2U);
}

TEST_P(LiveHarness, PullBacksMoveWhatKatasWould) {
  const auto sandbox = node_->sandbox({.vcpus = 2});
  const auto elsewhere = sandbox->pod_group() + "/elsewhere";
  node_->corner().make(elsewhere);
  sandbox->start();
  const auto truth = sandbox->truth();
  const auto move_away = [&] {
    for (const auto& mount : node_->corner().managed())
      EXPECT_EQ(scribble(mount.path + elsewhere + "/cgroup.procs", std::to_string(truth.vmm)), 0);
  };
  move_away();
  sandbox->ask("pullback-vcpus");
  for (const int tid : truth.vcpus) EXPECT_EQ(at(tid), sandbox->kata_group());
  EXPECT_EQ(at(truth.vmm), v1() ? elsewhere : sandbox->kata_group());
  move_away();
  sandbox->ask("pullback-vmm");
  for (const auto& thread : threads_of(truth.vmm)) EXPECT_EQ(at(thread.tid), sandbox->kata_group());
}

TEST_P(LiveHarness, ShimWithoutCgroupOnlyHasItsOverheadGroup) {
  if (!v1()) return;  // on v2 the whole VMM goes to Kata's group at once
  const auto sandbox = node_->sandbox({.standin = {{"CGROUP_ONLY", "0"}}});
  sandbox->start();
  const auto truth = sandbox->truth();
  const auto overhead = node_->corner().top() + "/kata_overhead/" + sandbox->id();
  EXPECT_EQ(at(truth.shim), overhead);
  EXPECT_EQ(at(truth.vmm), overhead);
  EXPECT_EQ(at(*truth.vcpus.begin()), sandbox->kata_group());
}

TEST_P(LiveHarness, StrangersAreAsManyAsAsked) {
  if (!v1()) return;  // once is enough
  Command command;
  command.argv = {built("tests/support/strangers"), "500"};
  command.output = node_->run_root() + "/strangers";
  auto strangers = Child::start(command);
  EXPECT_TRUE(
      wait_until([&] { return cpu_time(strangers.pid()) > std::chrono::milliseconds(20); }));
  strangers.signal(SIGTERM);
  EXPECT_EQ(strangers.wait(kPatience), 0);
  EXPECT_GT(std::stoul(slurp(command.output)), 0U);
}

TEST_P(LiveHarness, LibcgroupReadsTheSame) {
  const auto sandbox = node_->sandbox();
  sandbox->start();
  const auto truth = sandbox->truth();
  const std::set<int> both = {truth.shim, truth.vmm};
  EXPECT_EQ(libcgroup_processes(sandbox->kata_group(), v1() ? "memory" : "cgroup"), both);
  if (v1()) {
    EXPECT_EQ(libcgroup_threads(sandbox->kata_group(), "cpu").count(*truth.vcpus.begin()), 1U);
  }
}

TEST_P(LiveHarness, EndLeavesNeitherGroupsNorState) {
  const auto sandbox = node_->sandbox();
  sandbox->start();
  const auto truth = sandbox->truth();
  sandbox->end();
  EXPECT_TRUE(node_->corner().find("kata_").empty());
  EXPECT_FALSE(alive(truth.vmm));
  EXPECT_FALSE(exists(node_->run_root() + "/run/vc/sbs/" + sandbox->id()));
  EXPECT_FALSE(exists(sandbox->bundle()));
}

TEST_P(LiveHarness, StartHelperLeavesTheShimsPid) {
  const auto sandbox = node_->sandbox();
  auto command = sandbox->shim_command();
  command.argv.push_back("start");
  auto helper = Child::start(command);
  EXPECT_EQ(helper.wait(kPatience), 0);
  const auto truth = sandbox->truth();
  EXPECT_EQ(slurp_line(sandbox->bundle() + "/shim.pid"), std::to_string(truth.shim));
  sandbox->ask("exit");
}

TEST_P(LiveHarness, NodeLeavesNothing) {
  const auto top = node_->corner().top();
  const auto run_root = node_->run_root();
  const auto truth = [&] {
    const auto sandbox = node_->sandbox({.standin = {{"HELPER", "1"}}});
    sandbox->start();
    auto now = sandbox->truth();
    sandbox->shim().signal(SIGKILL);  // the VMM is nobody's child now
    return now;
  }();
  node_.reset();
  EXPECT_FALSE(alive(truth.vmm));
  for (const char* const version : {"v1", "v2"})
    for (const auto& mount : must(standin::find_mounts(version)))
      EXPECT_FALSE(exists(mount.path + top)) << mount.path;
  EXPECT_FALSE(exists(run_root));
}

KCG_ON_BOTH_TREES(LiveHarness);

}  // namespace
}  // namespace kcg::live
