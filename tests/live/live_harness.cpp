// SPDX-License-Identifier: Apache-2.0
//
// The ground that the other live tests stand on: without a daemon the stand-ins behave as Kata's
// programs do, the kernel shows it, and nothing stays behind.
#include <signal.h>
#include <sys/mount.h>

#include <algorithm>
#include <filesystem>

#include "base/text.hpp"
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
  for (const auto& thread : threads_of(truth.vmm)) EXPECT_EQ(at(thread.tid), sandbox->kata_group());
  EXPECT_EQ(groups_of(truth.vmm)["devices"], "/") << "an unmanaged hierarchy was touched";
  EXPECT_NE(misplaced(*sandbox, truth), "") << "nobody has placed anything yet";
  EXPECT_NE(unmarked(*sandbox), "");
}

TEST_P(LiveHarness, ThreadsHaveNoNamesUnlessAsked) {
  KCG_NEEDS_KVM();
  const auto sandbox = node_->sandbox();
  sandbox->start();
  for (const auto& thread : threads_of(sandbox->truth().vmm))
    EXPECT_TRUE(thread.comm == "qemu-system-x86" || thread.comm == "kvm-nx-lpage-re")
        << thread.comm;
}

TEST_P(LiveHarness, ThreadsCarryNamesWhenAsked) {
  const auto sandbox = node_->sandbox({.names = true});
  sandbox->start();
  const auto threads = threads_of(sandbox->truth().vmm);
  for (const char* const name : {kvm_works() ? "CPU 0/KVM" : "CPU 0/TCG", "IO io0"})
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

/// What only v1 has, or what does not depend on the tree.
class LiveHarnessV1 : public LiveHarness {};

TEST_P(LiveHarnessV1, ShimWithoutCgroupOnlyHasItsOverheadGroup) {
  const auto sandbox = node_->sandbox({.standin = {{"CGROUP_ONLY", "0"}}});
  sandbox->start();
  const auto truth = sandbox->truth();
  const auto overhead = node_->corner().top() + "/kata_overhead/" + sandbox->id();
  EXPECT_EQ(at(truth.shim), overhead);
  EXPECT_EQ(at(truth.vmm), overhead);
  EXPECT_EQ(at(*truth.vcpus.begin()), sandbox->kata_group());
}

TEST_P(LiveHarnessV1, StrangersAreAsManyAsAsked) {
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

/// The CPUs that a thread may use, as the kernel says: "0-1".
std::string allowed_cpus(int tid) {
  const auto text = slurp("/proc/" + std::to_string(tid) + "/status");
  for (const auto line : lines(text))
    if (line.starts_with("Cpus_allowed_list:")) return std::string(trim(line.substr(18)));
  return {};
}

TEST_P(LiveHarnessV1, PinningFollowsTheContainersAndFailsAsKatas) {
  const auto sandbox = node_->sandbox({.vcpus = 2, .standin = {{"PINNING", "1"}}});
  sandbox->start();
  const auto vcpus = sandbox->truth().vcpus;
  const auto allowed = [&] {
    std::set<std::string> all;
    for (const int tid : vcpus) all.insert(allowed_cpus(tid));
    return all;
  };
  sandbox->run_container({.id = "one", .cpus = "0-1"});
  EXPECT_EQ(allowed(), (std::set<std::string>{"0", "1"})) << "as many vCPUs as CPUs";
  sandbox->run_container({.id = "two", .cpus = "0"});
  sandbox->ask("update one cpus=0");
  EXPECT_EQ(allowed(), std::set<std::string>{"0"}) << "no longer as many";
  EXPECT_EQ(slurp_line(node_->corner().directory(sandbox->kata_group(), "cpuset") + "/cpuset.cpus"),
            "0");

  // What somebody does to a pod who keeps a vCPU in a narrower group than Kata's.
  const auto narrow = sandbox->pod_group() + "/narrow";
  node_->corner().make(narrow);
  const auto directory = node_->corner().directory(narrow, "cpuset");
  ASSERT_EQ(scribble(directory + "/cpuset.cpus", "0"), 0);
  ASSERT_EQ(scribble(directory + "/tasks", std::to_string(*vcpus.begin())), 0);
  ASSERT_EQ(scribble(directory + "/tasks", std::to_string(*vcpus.rbegin())), 0);
  try {
    sandbox->ask("update two cpus=0-1");
    FAIL() << "Kata's call fails then";
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("affinity to cpu [1]: Invalid argument"),
              std::string::npos)
        << error.what();
  }
}

TEST_P(LiveHarness, ContainersComeAndGoInKatasFiles) {
  const auto sandbox = node_->sandbox({.standin = {{"SAVE_GAP_MS", "5"}}});
  sandbox->start();
  sandbox->run_container({.id = "one"});
  const auto state = node_->run_root() + "/run/vc/sbs/" + sandbox->id();
  const auto says = [](const std::string& file, const std::string& text) {
    return slurp(file + "/persist.json").find(text) != std::string::npos;
  };
  EXPECT_TRUE(says(state, "\"ID\": \"one\""));
  EXPECT_TRUE(says(state + "/one", "\"State\": \"running\""));
  sandbox->ask("update one quota=70000 memory=1048576");
  EXPECT_TRUE(says(state, "\"quota\": 70000"));
  sandbox->ask("stop one");
  EXPECT_TRUE(says(state + "/one", "\"State\": \"stopped\""));
  sandbox->ask("delete one");
  EXPECT_FALSE(exists(state + "/one"));
  EXPECT_FALSE(says(state, "\"ID\": \"one\""));
  EXPECT_TRUE(exists(bundle_directory(node_->run_root(), "one"))) << "the engine's to remove";
  EXPECT_THROW(sandbox->ask("delete one"), std::exception);
}

TEST_P(LiveHarness, WhatAKilledTestLeavesMountedIsInNobodysWay) {
  const auto old_root = node_->run_root();
  const auto left = old_root + "/left";
  std::filesystem::create_directory(left);
  ASSERT_EQ(::mount("none", left.c_str(), "tmpfs", 0, nullptr), 0);
  node_.reset();
  ASSERT_TRUE(exists(left)) << "else this proves nothing";
  node_ = std::make_unique<Node>(GetParam());
  EXPECT_FALSE(exists(old_root));
}

TEST_P(LiveHarness, EndsInEveryOrderAndReturns) {
  for (const char* const order : {"state vmm leave groups", "vmm leave groups state",
                                  "vmm state leave groups", "leave vmm groups state"}) {
    const auto sandbox = node_->sandbox({.id = "again"});
    sandbox->start();
    const auto vmm = sandbox->truth().vmm;
    sandbox->ask(std::string("end ") + order);
    EXPECT_FALSE(alive(vmm)) << order;
    EXPECT_TRUE(node_->corner().find("kata_").empty()) << order;
    EXPECT_FALSE(exists(node_->run_root() + "/run/vc/sbs/again")) << order;
    sandbox->shim().signal(SIGTERM);
    EXPECT_EQ(sandbox->shim().wait(kPatience), 0) << order;
    sandbox->remove_files();
  }
}

TEST_P(LiveHarnessV1, BootMemoryIsUsedByTheGuest) {
  const auto rss = [](int pid) {
    const auto statm = slurp_line("/proc/" + std::to_string(pid) + "/statm");
    return parse_u64(words(statm)[1]).value_or(0) / 256;
  };
  for (const auto& [key, value] : {std::pair("GUEST", "touch"), std::pair("PREALLOC", "1")}) {
    const auto sandbox = node_->sandbox({.standin = {{"MEMORY_MIB", "256"}, {key, value}}});
    sandbox->start();
    const auto vmm = sandbox->truth().vmm;
    EXPECT_TRUE(wait_until([&] { return rss(vmm) > 250; })) << key << ": " << rss(vmm) << " MiB";
    sandbox->end();
  }
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
    for (const auto& mount : mounts_of(version))
      EXPECT_FALSE(exists(mount.path + top)) << mount.path;
  EXPECT_FALSE(exists(run_root));
}

KCG_ON_BOTH_TREES(LiveHarness);
KCG_ON_TREE(LiveHarnessV1, v1);

}  // namespace
}  // namespace kcg::live
