// SPDX-License-Identifier: Apache-2.0
//
// Who makes work, a sandbox or a stranger, keeps no sandbox waiting, and costs the node a bounded
// share. What is placed meanwhile is compared with the same pods on the same node before.
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>

#include "support/live/fixture.hpp"
#include "support/live/kernel.hpp"
#include "support/live/placing.hpp"
#include "support/live/programs.hpp"
#include "support/live/wait.hpp"

namespace kcg::live {
namespace {

using std::chrono::steady_clock;

class LiveFair : public LiveTest {
 protected:
  [[nodiscard]] std::unique_ptr<Sandbox> start(const SandboxSpec& spec) const {
    auto sandbox = node_->sandbox(spec);
    sandbox->start();
    return sandbox;
  }
  static SandboxSpec light(const std::string& pod, int vcpus) {
    return {.pod = pod, .names = true, .light = true, .vcpus = vcpus};
  }
};

/// A thread that renames itself all the time: each time is a hint.
TEST_P(LiveFair, ARestlessVmmCostsABoundedShare) {
  start_daemon();
  auto spec = light("podrestless", 2);
  spec.standin["NOISE_US"] = "50";
  const auto restless = start(spec);
  EXPECT_EQ(settle(*restless), "");
  const auto measured = std::chrono::seconds(4);
  const auto began = steady_clock::now();
  const auto before = cpu_time(daemon_->pid());
  EXPECT_TRUE(wait_until([&] { return steady_clock::now() - began >= measured; }));
  const auto spent = cpu_time(daemon_->pid()) - before;
  std::printf("%ld ms of 4,000\n", static_cast<long>(spent.count() / 1'000'000));
  EXPECT_LT(spent, measured / 4);
  const auto other = start(light("podother", 2));
  EXPECT_EQ(settle(*other), "");
}

/// Its looks are long, and there is always a reason for one more.
TEST_P(LiveFair, AVmmOfThreeThousandThreadsKeepsNobodyWaiting) {
  start_daemon();
  const auto before = placing(*node_, "before");
  auto spec = light("podlarge", 2);
  spec.standin["IDLE_THREADS"] = "3000";
  spec.standin["NOISE_US"] = "50";
  const auto large = start(spec);
  EXPECT_NE(large->truth().vmm, 0);
  EXPECT_LE(placing(*node_, "beside"), kMostTimes * before);
  EXPECT_EQ(settle(*large), "");
  EXPECT_LE(placing(*node_, "later"), kMostTimes * before);
}

constexpr unsigned kUser = 65534;
void become_anybody() {
  if (::setresuid(kUser, kUser, kUser) != 0) ::_exit(1);
}

/// Anybody may run a program that is called a shim, has a known id in its arguments and many
/// children, and executes itself for ever.
TEST_P(LiveFair, AStormOfExecutionsKeepsNobodyWaiting) {
  start_daemon();
  const auto victim = start(light("podvictim", 2));
  EXPECT_EQ(settle(*victim), "");
  const auto before = placing(*node_, "before");
  const auto shim = node_->run_root() + "/containerd-shim-kata-v2";
  std::filesystem::copy_file(impostor(), shim);
  Command command;
  command.argv = {shim, "-namespace", "k8s.io", "-id", victim->id(), "-address", "/run/a.sock"};
  command.environment = {{"CHILDREN", "4300"}, {"EXECS", "1000000"}};
  command.groups = node_->corner().system();
  command.before_exec = become_anybody;
  auto storm = Child::start(command);
  ASSERT_TRUE(wait_until([&] { return children_of(storm.pid()).size() == 4300; }));
  EXPECT_LE(placing(*node_, "beside"), kMostTimes * before);
  ASSERT_TRUE(storm.running());
  EXPECT_EQ(misplaced(*victim, victim->truth()), "");
  EXPECT_EQ(daemon_->standing_complaints(), "");
}

/// Or one with a megabyte of arguments, again and again.
TEST_P(LiveFair, AStormOfLongArgumentsKeepsNobodyWaiting) {
  constexpr std::uint64_t kMaxGrowthKib = 8 * 1024 + kQuarantineKib;
  start_daemon();
  const auto before = placing(*node_, "before");
  const auto resident = resident_kib(daemon_->pid());
  const auto shim = node_->run_root() + "/containerd-shim-kata-v2";
  std::filesystem::copy_file("/bin/true", shim);
  Command command;
  command.argv = {"/bin/sh", "-c",
                  "long=$(head -c 100000 /dev/zero | tr '\\0' x); while :; do "
                  "\"$1\" -id $((number += 1)) $long $long $long $long $long $long $long $long; "
                  "done",
                  "sh", shim};
  command.groups = node_->corner().system();
  command.before_exec = become_anybody;
  auto storm = Child::start(command);
  EXPECT_LE(placing(*node_, "beside"), kMostTimes * before);
  ASSERT_TRUE(storm.running());
  EXPECT_LE(resident_kib(daemon_->pid()), resident + kMaxGrowthKib);
  EXPECT_EQ(daemon_->standing_complaints(), "");
}

KCG_ON_BOTH_TREES(LiveFair);

}  // namespace
}  // namespace kcg::live
