// SPDX-License-Identifier: Apache-2.0
//
// Limits in force on a real kernel: what is written reads back, holds real vCPUs, survives the
// daemon, and who is killed for lack of memory is told of. v1 alone: the cgroup2 tree beside it has
// neither cpu nor memory.
#include <chrono>
#include <filesystem>
#include <vector>

#include "base/text.hpp"
#include "support/live/fixture.hpp"
#include "support/live/kernel.hpp"
#include "support/live/programs.hpp"
#include "support/live/wait.hpp"

namespace kcg::live {
namespace {

using std::chrono::duration;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr std::uint64_t kMib = 1024 * 1024;
constexpr const char* kOverheadKey = "io.katacontainers.config.hypervisor.memory_overhead";

/// 0 when there is no such line.
std::uint64_t number_after(const std::string& text, std::string_view key) {
  for (const auto line : lines(text))
    if (line.starts_with(key)) return parse_u64(line.substr(key.size())).value_or(0);
  return 0;
}

class LiveLimits : public LiveTest {
 protected:
  /// Starts a container of the pod: its bundle appears.
  void add_container(const Sandbox& sandbox, const std::string& id, std::int64_t memory,
                     std::int64_t quota = 50'000) const {
    write_bundle(node_->run_root(), {id,
                                     sandbox.id(),
                                     sandbox.pod_group() + "/" + id,
                                     "",
                                     {},
                                     ContainerSpec{id, "app", memory, quota}});
  }
  [[nodiscard]] std::string file(const Sandbox& sandbox, const std::string& below,
                                 const std::string& controller, const std::string& name) const {
    return slurp_line(node_->corner().directory(sandbox.group() + below, controller) + "/" + name);
  }
  [[nodiscard]] bool memory_becomes(const Sandbox& sandbox, std::uint64_t mib) const {
    return wait_until([&] { return memory(sandbox) == std::to_string(mib * kMib); });
  }
  [[nodiscard]] std::string memory(const Sandbox& sandbox) const {
    return file(sandbox, "", "memory", "memory.limit_in_bytes");
  }
  /// What cgctl shows without the daemon.
  [[nodiscard]] std::string cgctl(std::vector<std::string> arguments) const {
    Command command;
    command.argv = {built("tools/cgctl/cgctl")};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    for (const char* const word : {"--no-daemon", "--cgroup-root", "/sys/fs/cgroup", "--run-root"})
      command.argv.emplace_back(word);
    command.argv.push_back(node_->run_root());
    command.output = node_->run_root() + "/cgctl.out";
    std::filesystem::remove(command.output);
    auto child = Child::start(command);
    EXPECT_TRUE(child.wait(kPatience));
    return slurp(command.output);
  }
};

TEST_P(LiveLimits, MemoryGrowsAndSurvivesTheDaemon) {
  start_daemon();
  const auto sandbox = node_->sandbox({.annotations = {{kOverheadKey, "200"}}});
  add_container(*sandbox, "one", 128 * kMib);
  sandbox->start();
  ASSERT_EQ(settle(*sandbox), "");
  EXPECT_TRUE(memory_becomes(*sandbox, 128 + 200)) << memory(*sandbox);
  add_container(*sandbox, "two", 64 * kMib);
  EXPECT_TRUE(memory_becomes(*sandbox, 128 + 64 + 200)) << memory(*sandbox);
  remove_bundle(node_->run_root(), "two");
  const auto smaller = file(*sandbox, "/vcpu", "cpu", "cpu.cfs_quota_us");
  EXPECT_TRUE(wait_until([&] {
    return file(*sandbox, "/vcpu", "cpu", "cpu.cfs_quota_us") == "50000";
  })) << smaller;
  EXPECT_TRUE(memory_becomes(*sandbox, 128 + 64 + 200)) << "the guest does not give it back";
  EXPECT_EQ(daemon_->terminate(), 0);
  daemon_->start();
  EXPECT_EQ(memory(*sandbox), std::to_string((128 + 64 + 200) * kMib));
  daemon_->kill9();
  daemon_->start();
  EXPECT_EQ(memory(*sandbox), std::to_string((128 + 64 + 200) * kMib));
  add_container(*sandbox, "three", 256 * kMib);
  EXPECT_TRUE(memory_becomes(*sandbox, 128 + 256 + 200)) << memory(*sandbox);
}

/// Value: CPU time and throttling of a group since it was made.
struct CpuUse {
  steady_clock::time_point at;
  double used = 0;  ///< seconds
  std::uint64_t periods = 0, throttled = 0;
};

TEST_P(LiveLimits, TwoSpinningVcpusGetOneCpuAndIoThreadsAreNotHeld) {
  start_daemon();
  const auto& corner = node_->corner();
  // Whatever else the machine does, it does beside us.
  ASSERT_EQ(scribble(corner.directory(corner.top()) + "/cpu.shares", "262144"), 0);
  const auto sandbox = node_->sandbox({.vcpus = 2, .standin = {{"GUEST", "spin"}}});
  sandbox->start();
  ASSERT_EQ(settle(*sandbox), "");
  EXPECT_EQ(file(*sandbox, "/vcpu", "cpu", "cpu.cfs_quota_us"), "-1") << "the boot is not held";
  add_container(*sandbox, "one", 128 * kMib, 100'000);
  ASSERT_TRUE(
      wait_until([&] { return file(*sandbox, "/vcpu", "cpu", "cpu.cfs_quota_us") == "100000"; }));

  const auto look = [&](const std::string& below) {
    CpuUse use;
    use.at = steady_clock::now();
    use.used = static_cast<double>(
                   parse_u64(file(*sandbox, below, "cpuacct", "cpuacct.usage")).value_or(0)) /
               1e9;
    const auto stat = slurp(node_->corner().directory(sandbox->group() + below) + "/cpu.stat");
    use.periods = number_after(stat, "nr_periods ");
    use.throttled = number_after(stat, "nr_throttled ");
    return use;
  };
  // Only where the vCPUs want more than they get does the quota decide: a window in which the
  // machine had something more urgent to do is no answer.
  bool decided = false;
  for (int tries = 0; tries < 10 && !decided; ++tries) {
    const auto before = look("/vcpu");
    (void)wait_until([&] { return steady_clock::now() - before.at >= seconds(3); });
    const auto after = look("/vcpu");
    const auto cpus = (after.used - before.used) / duration<double>(after.at - before.at).count();
    EXPECT_LE(cpus, 1.1);
    const auto periods = static_cast<double>(after.periods - before.periods);
    decided = static_cast<double>(after.throttled - before.throttled) >= 0.9 * periods;
    EXPECT_TRUE(!decided || cpus >= 0.9) << cpus;
  }
  EXPECT_TRUE(decided) << "the machine is too busy for two vCPUs to reach their quota";
  for (const char* const below : {"", "/io", "/vmm", "/shim"}) {
    EXPECT_EQ(file(*sandbox, below, "cpu", "cpu.cfs_quota_us"), "-1") << below;
    EXPECT_EQ(look(below).throttled, 0U) << below;
  }
}

TEST_P(LiveLimits, AGuestThatOutgrowsItsMemoryIsToldOfAndItsNeighboursLive) {
  start_daemon();
  const auto neighbour = node_->sandbox({.pod = "podb"});
  neighbour->start();
  const auto sandbox = node_->sandbox(
      {.annotations = {{kOverheadKey, "96"},
                       {"io.kubernetes.cri.sandbox-memory", std::to_string(64 * kMib)}}});
  sandbox->start();
  ASSERT_EQ(settle(*sandbox), "");
  ASSERT_EQ(settle(*neighbour), "");
  ASSERT_TRUE(memory_becomes(*sandbox, 64 + 96)) << memory(*sandbox);
  const auto vmm = sandbox->truth().vmm;
  EXPECT_THROW(sandbox->ask("fill-memory 1024"), std::exception);
  EXPECT_TRUE(wait_until([&] { return !alive(vmm); }));
  const auto expected = fmt::format(
      "sandbox '{}': OomKilled: the kernel killed 1 process in {} for lack of memory: {}, the "
      "sandbox's own group, allows {} bytes; usage ",
      sandbox->id(), sandbox->group(), sandbox->group(), (64 + 96) * kMib);
  EXPECT_TRUE(wait_until([&] { return daemon_->log().find(expected) != std::string::npos; }))
      << expected;
  const auto budget = fmt::format(
      "its budget is S + O = ({} (the engine's memory total for the pod)"
      ") + {} = {} bytes",
      64 * kMib, 96 * kMib, (64 + 96) * kMib);
  EXPECT_NE(daemon_->log().find(budget), std::string::npos) << budget;
  for (const auto& shown : {cgctl({"list"}), cgctl({"show", sandbox->id()})})
    EXPECT_NE(shown.find("OomKilled"), std::string::npos) << shown;
  EXPECT_EQ(settle(*neighbour), "");
  EXPECT_EQ(cgctl({"show", neighbour->id()}).find("OomKilled"), std::string::npos);
  sandbox->end();
  EXPECT_EQ(gone(*sandbox), "");
}

TEST_P(LiveLimits, WhatDoesNotFitIsSaidUntilItFits) {
  start_daemon();
  const auto logged = [&](const std::string& text) {
    return wait_until([&] { return daemon_->log().find(text) != std::string::npos; });
  };
  const auto full = node_->sandbox({.pod = "poda", .annotations = {{kOverheadKey, "1"}}});
  full->start();
  ASSERT_EQ(settle(*full), "");
  add_container(*full, "one", kMib);
  EXPECT_TRUE(logged(fmt::format("sandbox '{}': LimitBelowUsage: ", full->id())));
  EXPECT_GT(parse_u64(memory(*full)).value_or(0), std::uint64_t{1} << 62) << "nothing was written";

  const auto sandbox = node_->sandbox({.pod = "podb", .annotations = {{kOverheadKey, "200"}}});
  const auto pod = node_->corner().directory(sandbox->pod_group(), "memory");
  ASSERT_EQ(scribble(pod + "/memory.limit_in_bytes", std::to_string(200 * kMib)), 0);
  add_container(*sandbox, "two", 128 * kMib);
  sandbox->start();
  ASSERT_EQ(settle(*sandbox), "");
  const auto about = fmt::format("sandbox '{}': ", sandbox->id());
  EXPECT_TRUE(
      logged(about + fmt::format("ParentUndersized: {} allows {} bytes of memory, the "
                                 "sandbox needs {}, of which {} are overhead",
                                 sandbox->pod_group(), 200 * kMib, 328 * kMib, 200 * kMib)));
  EXPECT_TRUE(
      logged(about + fmt::format("VmLargerThanLimit: the VM has {} bytes of RAM and needs "
                                 "{} with its overhead, but {} allows {}",
                                 128 * kMib, 328 * kMib, sandbox->pod_group(), 200 * kMib)));
  ASSERT_EQ(scribble(pod + "/memory.limit_in_bytes", std::to_string(400 * kMib)), 0);
  sandbox->ask("move-self");  // somebody has to look: nobody tells of a limit
  EXPECT_TRUE(logged(about + "ParentUndersized cleared"));
  EXPECT_TRUE(logged(about + "VmLargerThanLimit cleared"));
}

INSTANTIATE_TEST_SUITE_P(Trees, LiveLimits, testing::Values(Tree::v1), tree_name);

}  // namespace
}  // namespace kcg::live
