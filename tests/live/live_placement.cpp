// SPDX-License-Identifier: Apache-2.0
//
// A sandbox appears, and every thread of it is where it belongs: by the kernel's own files and by
// libcgroup.
#include <signal.h>

#include <set>

#include "base/text.hpp"
#include "support/live/fixture.hpp"
#include "support/live/kernel.hpp"
#include "support/live/wait.hpp"

namespace kcg::live {
namespace {

struct Kind {
  const char* name;
  SandboxSpec spec;
};

class LivePlacement : public LiveTest {
 protected:
  void each_is_placed_in_its_life(const std::vector<Kind>& kinds) const;
  void plugged_vcpus_follow(bool names) const;
  void a_late_vcpu_is_found(bool names) const;
  void SetUp() override {
    LiveTest::SetUp();
    if (!IsSkipped()) start_daemon();
  }
  /// A control file of a group of the sandbox; `below` is "" or "/<class>".
  [[nodiscard]] std::string control(const Sandbox& sandbox, const std::string& below,
                                    const std::string& controller, const std::string& file) const {
    return slurp_line(node_->corner().directory(sandbox.group() + below, controller) + "/" + file);
  }
};

std::vector<Kind> kinds() {
  return {{"one vCPU, names", {.names = true, .vcpus = 1}},
          {"four vCPUs, names", {.names = true, .vcpus = 4}},
          {"virtiofsd", {.vcpus = 1, .standin = {{"HELPER", "1"}}}},
          {"busy from the start", {.vcpus = 2, .standin = {{"GUEST", "spin"}}}},
          {"TCG, names", {.names = true, .vcpus = 2, .standin = {{"ACCEL", "tcg"}}}},
          {"light VMM", {.names = true, .light = true, .vcpus = 2}},
          {"no pause before the fork", {.standin = {{"FORK_DELAY_MS", "0"}}}},
          {"a long pause before the fork", {.standin = {{"FORK_DELAY_MS", "60"}}}},
          {"a shim that never moves itself", {.standin = {{"SELF_MOVE", "0"}}}},
          {"nothing takes time",
           {.standin = {{"GROUP_DELAY_MS", "0"}, {"MOVE_DELAY_MS", "0"}, {"FORK_DELAY_MS", "0"}}}}};
}

std::vector<Kind> nameless_kinds() {
  return {{"one vCPU", {.vcpus = 1}}, {"four vCPUs", {.vcpus = 4}}};
}

void LivePlacement::each_is_placed_in_its_life(const std::vector<Kind>& kinds) const {
  for (const auto& kind : kinds) {
    SCOPED_TRACE(kind.name);
    const auto sandbox = node_->sandbox(kind.spec);
    sandbox->start();
    EXPECT_EQ(settle(*sandbox), "");
    const auto truth = sandbox->truth();
    EXPECT_EQ(misplaced_by_libcgroup(*sandbox, truth), "");
    EXPECT_EQ(unmarked(*sandbox), "");
    EXPECT_EQ(truth.vcpus.size(), static_cast<std::size_t>(kind.spec.vcpus));
    sandbox->end();
    EXPECT_EQ(gone(*sandbox), "");
    EXPECT_EQ(daemon_->complaints(), "") << "an ordinary life is nothing to warn of";
  }
}

TEST_P(LivePlacement, EveryThreadIsInItsGroup) { each_is_placed_in_its_life(kinds()); }

/// As Kata starts QEMU.
TEST_P(LivePlacement, ThreadsWithoutNamesAreToldByKvm) {
  KCG_NEEDS_KVM();
  each_is_placed_in_its_life(nameless_kinds());
}

TEST_P(LivePlacement, GroupsAreOfTheRightType) {
  const auto sandbox = node_->sandbox();
  sandbox->start();
  ASSERT_EQ(settle(*sandbox), "");
  if (v1()) {
    EXPECT_FALSE(exists(node_->corner().directory(sandbox->group() + "/vcpu", "memory")))
        << "class groups are for cpu and cpuacct only";
    EXPECT_FALSE(exists(node_->corner().directory(sandbox->group(), "cpuset"))) << "Kata's";
  } else {
    EXPECT_EQ(control(*sandbox, "", "", "cgroup.type"), "domain threaded");
    for (const char* const cls : {"/vcpu", "/io", "/vmm", "/shim"})
      EXPECT_EQ(control(*sandbox, cls, "", "cgroup.type"), "threaded") << cls;
  }
}

/// The cgroup2 tree beside v1 has no cpu controller; the end-to-end tests have one.
class LivePlacementV1 : public LivePlacement {};

TEST_P(LivePlacementV1, VcpusWeighAsManyAsTheyAre) {
  const auto sandbox = node_->sandbox({.vcpus = 4});
  sandbox->start();
  ASSERT_EQ(settle(*sandbox), "");
  EXPECT_TRUE(wait_until([&] { return control(*sandbox, "/vcpu", "cpu", "cpu.shares") == "4096"; }))
      << control(*sandbox, "/vcpu", "cpu", "cpu.shares");
  for (const char* const cls : {"/io", "/vmm", "/shim"})
    EXPECT_EQ(control(*sandbox, cls, "cpu", "cpu.shares"), "1024") << cls;
}

void LivePlacement::plugged_vcpus_follow(bool names) const {
  const auto sandbox = node_->sandbox({.names = names, .standin = {{"MAX_VCPUS", "3"}}});
  sandbox->start();
  ASSERT_EQ(settle(*sandbox), "");
  for (const std::size_t count : {2U, 3U}) {
    let_it_run();
    sandbox->ask("hotplug");
    EXPECT_EQ(settle(*sandbox), "");
    EXPECT_EQ(sandbox->truth().vcpus.size(), count);
    if (!v1()) continue;
    EXPECT_TRUE(wait_until([&] {
      return control(*sandbox, "/vcpu", "cpu", "cpu.shares") == std::to_string(1024 * count);
    })) << "the weight must follow";
  }
  sandbox->end();
  EXPECT_EQ(gone(*sandbox), "");
}

TEST_P(LivePlacement, HotpluggedVcpuFollowsItsEvent) { plugged_vcpus_follow(true); }

TEST_P(LivePlacement, HotpluggedVcpuWithoutANameFollowsKvm) {
  KCG_NEEDS_KVM();
  plugged_vcpus_follow(false);
}

void LivePlacement::a_late_vcpu_is_found(bool names) const {
  const auto sandbox = node_->sandbox(
      {.names = names, .light = true, .standin = {{"KVM", "1"}, {"LATE_VCPU", "1"}}});
  sandbox->start();
  ASSERT_EQ(settle(*sandbox), "");
  let_it_run();
  const auto truth = sandbox->truth();
  ASSERT_EQ(::kill(truth.vmm, SIGWINCH), 0);
  std::set<int> vcpus;
  EXPECT_TRUE(wait_until([&] { return (vcpus = kvms_vcpus(truth.vmm)).size() == 2; }));
  const auto all_in = [&] {
    for (const auto& thread : threads_of(truth.vmm))
      if (vcpus.contains(thread.tid) &&
          thread.groups.at(v1() ? "cpu" : "") != sandbox->group() + "/vcpu")
        return false;
    return true;
  };
  EXPECT_TRUE(wait_until(all_in));
  sandbox->end();
  EXPECT_EQ(gone(*sandbox), "");
}

/// Neither its thread's birth nor a name tells of it, and KVM tells nobody.
TEST_P(LivePlacement, AVcpuThatRunsLateAndHasNoNameIsFound) {
  KCG_NEEDS_KVM();
  a_late_vcpu_is_found(true);
}

/// KVM has told of it when it was made, long before.
TEST_P(LivePlacement, AVcpuThatRunsLateIsFoundWhereNoneHasAName) {
  KCG_NEEDS_KVM();
  a_late_vcpu_is_found(false);
}

TEST_P(LivePlacement, TwoSandboxesOfOnePodAndOthersDoNotMix) {
  const auto one = node_->sandbox({.pod = "poda"});
  const auto two = node_->sandbox({.pod = "poda"});
  const auto three = node_->sandbox({.pod = "podb"});
  for (const auto* const sandbox : {&one, &two, &three}) (*sandbox)->start();
  for (const auto* const sandbox : {&one, &two, &three}) EXPECT_EQ(settle(**sandbox), "");
  one->end();
  EXPECT_EQ(gone(*one), "");
  EXPECT_EQ(settle(*two), "");
  EXPECT_EQ(settle(*three), "");
}

using LiveFlat = LiveTest;

TEST_P(LiveFlat, WithoutThreadGroupsAllStandInTheSandboxGroup) {
  start_daemon({.config = "[placement]\nthread_groups = false\n"});
  const auto sandbox = node_->sandbox({.vcpus = 2, .standin = {{"HELPER", "1"}}});
  sandbox->start();
  const auto truth = sandbox->truth();
  std::vector<int> pids = truth.helpers;
  pids.insert(pids.end(), {truth.shim, truth.vmm});
  for (const int pid : pids) {
    const auto all_in = [&] {
      for (const auto& thread : threads_of(pid))
        for (const char* const key : {"cpu", "memory", "pids", ""})
          if (v1() != (*key == '\0') && thread.groups.at(key) != sandbox->group()) return false;
      return true;
    };
    EXPECT_TRUE(wait_until(all_in)) << pid;
  }
  EXPECT_FALSE(exists(node_->corner().directory(sandbox->group() + "/vcpu")));
  sandbox->end();
  EXPECT_EQ(gone(*sandbox), "");
}

KCG_ON_BOTH_TREES(LivePlacement);
KCG_ON_TREE(LivePlacementV1, v1);
KCG_ON_BOTH_TREES(LiveFlat);

}  // namespace
}  // namespace kcg::live
