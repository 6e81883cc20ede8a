// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "observe/sandbox.hpp"
#include "observe/scan.hpp"
#include "observe/shims.hpp"
#include "sandbox_scenes.hpp"
#include "support/sandbox_world.hpp"

namespace kcg::test {
namespace {

const BundleOwner nobody = [](const std::string&) { return std::nullopt; };

/// What any user can run: the shim's name and arguments, and children without number.
Pid impostor(SandboxWorld& world, std::uint32_t uid) {
  const auto shim = world.proc.process(world.shim);
  const Pid pid = world.proc.start(1, {"containerd-shim", shim.exe, shim.args, shim.cwd});
  world.proc.process(pid).real_uid = uid;
  for (int i = 0; i < 50; ++i) (void)world.proc.start(pid, {"sleep", "/bin/sleep", {"sleep"}});
  return pid;
}

TEST(Observe, NothingIsWalkedBelowWhoIsNotProven) {
  for (const std::uint32_t uid : {0U, 65534U}) {
    SandboxWorld world(scenario());
    world.boot();
    (void)world.pass();
    const Pid pid = impostor(world, uid);
    if (uid == 0) world.proc.process(pid).same_pid_ns = false;  // root of a container
    world.record.shim_candidates.insert(pid);
    world.proc.clear_looks();
    const auto observed = world.observe();
    EXPECT_FALSE(world.proc.walked().contains(pid));
    EXPECT_TRUE(world.proc.walked().contains(world.shim));
    EXPECT_LT(world.proc.looked_at().size(), 10U) << "none of its children";
    EXPECT_EQ(observed.processes.size(), 4U);
    EXPECT_FALSE(may_be_shim(world.proc, pid, world.assembled.inputs));
    EXPECT_FALSE(shims_claim(world.proc, pid, nobody));
  }
}

/// Where it stands is right, and what it runs is no shim.
TEST(Observe, NothingIsWalkedBelowWhoStandsInTheBundleAndIsNoShim) {
  SandboxWorld world(scenario());
  world.boot();
  (void)world.pass();
  const Pid pid = impostor(world, 0);
  world.proc.process(pid).exe = "/bin/sleep";
  world.proc.process(pid).cwd_id = world.proc.process(world.shim).cwd_id;
  world.record.shim_candidates.insert(pid);
  ASSERT_TRUE(may_be_shim(world.proc, pid, world.assembled.inputs));
  world.proc.clear_looks();
  EXPECT_EQ(world.observe().processes.size(), 4U);
  EXPECT_FALSE(world.proc.walked().contains(pid));
}

TEST(Observe, AShimSaysWhichSandboxItIsOf) {
  SandboxWorld world(scenario());
  world.boot();
  const auto claim = shims_claim(world.proc, world.shim, nobody);
  ASSERT_TRUE(claim);
  EXPECT_EQ(claim->id.str(), "S");
  EXPECT_EQ(claim->directory, world.assembled.inputs.bundle->directory);
  EXPECT_TRUE(may_be_shim(world.proc, world.shim, world.assembled.inputs));
  EXPECT_FALSE(may_be_shim(world.proc, world.containerd, world.assembled.inputs));
  EXPECT_FALSE(may_be_shim(world.proc, 9999, world.assembled.inputs));
}

/// On a busy node, or where its memory map is held for long.
TEST(Observe, AShimWhoseArgumentsAreNotKnownIsOfTheBundleInWhichItWorks) {
  SandboxWorld world(scenario());
  world.boot();
  world.proc.set_hanging(world.shim, true);
  const auto owner = [&](const std::string& directory) {
    const bool its = directory == world.assembled.inputs.bundle->directory;
    return its ? std::optional(SandboxId::parse("S").value()) : std::nullopt;
  };
  const auto claim = shims_claim(world.proc, world.shim, owner);
  ASSERT_TRUE(claim);
  EXPECT_EQ(claim->id.str(), "S");
  EXPECT_FALSE(shims_claim(world.proc, world.shim, nobody));
}

TEST(Observe, ARootlessOrphanIsFoundOnlyInTheNodesPidNamespace) {
  for (const bool same_pid_ns : {true, false}) {
    SandboxWorld world(scenario());
    world.boot();
    (void)world.pass();
    world.proc.process(world.vmm).real_uid = 1234;
    world.proc.process(world.vmm).same_pid_ns = same_pid_ns;
    world.end_shim();
    world.restart_daemon();
    EXPECT_EQ(world.observe().first(ProcessRole::vmm) != nullptr, same_pid_ns);
  }
}

TEST(Observe, AnOrphanInAGroupThatIsNotRootsIsNobodys) {
  SandboxWorld world(scenario());
  world.boot();
  (void)world.pass();
  world.end_shim();
  for (const auto& group :
       {world.expected_sandbox_group(), world.expected_sandbox_group() + "/vmm"})
    world.tree.give_away({"v2", path(group)});
  world.restart_daemon();
  EXPECT_TRUE(
      world.record.found_groups.empty() ||
      !world.record.found_groups.all().contains({"v2", path(world.expected_sandbox_group())}));
  EXPECT_EQ(world.observe().first(ProcessRole::vmm), nullptr);
}

TEST(Observe, AMarkOfAnotherRunRootIsNotOurs) {
  SandboxWorld world(scenario());
  world.boot();
  (void)world.pass();
  const auto ours = world.marked_groups();
  for (const auto& group : ours)
    world.tree.set_raw_mark({"v2", path(group.substr(3))}, "S /tmp/other");
  world.restart_daemon();
  EXPECT_TRUE(world.record.found_groups.empty());
  world.end_all();
  world.kata_cleans_up();
  world.tree.clear_log();
  (void)world.pass();
  EXPECT_TRUE(world.tree.log().empty()) << describe(world.tree.log().front());
}

TEST(Observe, AnEarlierMarkIsCarriedOverWhereOnlyRootCouldHaveSetIt) {
  for (const bool given_away : {false, true}) {
    SandboxWorld world(scenario());
    world.boot();
    (void)world.pass();
    const auto count = world.marked_groups().size();
    for (const auto& group : world.marked_groups())
      world.tree.set_earlier_mark({"v2", path(group.substr(3))}, "S");
    // Its owner could have put anything below it.
    if (given_away) world.tree.give_away({"v2", path(world.pod_group)});
    world.restart_daemon();
    (void)world.pass();
    EXPECT_EQ(world.marked_groups().size(), given_away ? 0U : count);
    world.tree.clear_log();
    (void)world.pass();
    EXPECT_TRUE(world.tree.log().empty()) << "once";
  }
}

TEST(Observe, ACommandLineThatHangsIsNotEmpty) {
  SandboxWorld world(scenario());
  world.start_shim();
  world.kata_makes_groups();
  world.start_vmm();
  world.start_threads();
  world.proc.set_hanging(world.vmm, true);
  auto observed = world.observe();
  EXPECT_EQ(observed.first(ProcessRole::vmm), nullptr);
  ASSERT_EQ(observed.unread_processes.size(), 1U);
  EXPECT_NE(observed.unread_processes.front().find("hangs"), std::string::npos);
  for (int look = 1; look <= 8; ++look) {
    EXPECT_TRUE(world.record.conditions.empty()) << "it may only be late";
    const auto pass = world.pass();
    ASSERT_TRUE(pass.follow_up.retry_at && *pass.follow_up.retry_at > world.clock.now());
    world.clock.advance(*pass.follow_up.retry_at - world.clock.now());
  }
  ASSERT_FALSE(world.record.conditions.empty());
  EXPECT_EQ(world.record.conditions.back().condition.condition, ConditionName::input_unreadable);
  EXPECT_FALSE(world.record.watched && world.record.fixed);
  world.proc.set_hanging(world.vmm, false);
  (void)world.pass();
  (void)world.pass();
  EXPECT_EQ(world.misplaced(), "");
  EXPECT_EQ(world.record.state, SandboxState::placed);
}

TEST(Observe, TooManyThreadsAreNotNone) {
  for (const auto mode : {HierarchyMode::v1, HierarchyMode::v2}) {
    auto s = scenario(mode);
    s.config.limits.max_threads_per_sandbox = 40;
    SandboxWorld world(s);
    world.boot();
    for (int i = 0; i < 50; ++i) (void)world.proc.add_thread(world.vmm, "pool");
    (void)world.pass();
    const auto observed = world.observe();
    const auto* vmm = observed.first(ProcessRole::vmm);
    ASSERT_NE(vmm, nullptr);
    EXPECT_FALSE(observed.gone);
    EXPECT_EQ(vmm->threads.size(), 1 + world.vcpus.size()) << "its leader and what KVM names";
    const auto top = world.expected_sandbox_group();
    const auto& h = world.tree.host().hierarchies.front().name;
    EXPECT_EQ(world.tree.group_of(world.vmm, h.str()), top + "/vmm");
    for (const Pid vcpu : world.vcpus) EXPECT_EQ(world.tree.group_of(vcpu, h.str()), top + "/vcpu");
    ASSERT_FALSE(observed.conditions.empty());
    EXPECT_EQ(observed.conditions.back().condition, ConditionName::input_unreadable);
    EXPECT_TRUE(world.look().plan.steps.empty());
  }
}

TEST(Observe, ANoteOfACreationAdoptsOnlyWhatIsEmpty) {
  for (const char* filled : {"", "process", "child"}) {
    SCOPED_TRACE(filled);
    SandboxWorld world(scenario());
    world.boot();
    const auto top = world.expected_sandbox_group();
    world.tree.make_all("v2", std::string_view(filled) == "child" ? top + "/x" : top);
    if (std::string_view(filled) == "process") put(world, world.strangers[1], top);
    world.context.creation_recorded = true;
    (void)world.pass();
    EXPECT_EQ(world.marked_groups().empty(), *filled != '\0');
  }
}

}  // namespace
}  // namespace kcg::test
