// SPDX-License-Identifier: Apache-2.0
//
// Something happens on the node between any two kernel operations of a pass: tasks end and appear,
// pids are used again, groups vanish, Kata takes its threads back.
#include <gtest/gtest.h>

#include <cerrno>

#include "fault/scenarios.hpp"

namespace kcg::test {
namespace {

/// Value: what happens in between.
struct Event {
  const char* name;
  void (*happens)(SandboxWorld&);
  bool ends_sandbox = false;
};

void end_helper(SandboxWorld& world) {
  if (world.virtiofsd_child == 0) return;
  for (const Pid tid : world.tree.threads_of(world.virtiofsd_child)) world.classes.erase(tid);
  world.proc.exit_process(world.virtiofsd_child);
  world.virtiofsd_child = 0;
}

void end_thread(SandboxWorld& world) {
  const Pid tid = world.vcpus.back();
  world.proc.exit_thread(tid);
  world.classes.erase(tid);
  world.vcpus.pop_back();
  world.proc.set_vcpus(world.vmm, world.vcpus);
}

void new_child(SandboxWorld& world) {
  const Pid pid = world.proc.start(world.shim, {"helper", "/usr/bin/helper", {"helper"}});
  world.classes[pid] = ThreadClass::vmm;
}

/// An outsider removes whatever of our groups is empty.
void lose_groups(SandboxWorld& world) {
  world.tree.outside([&](CgroupTree& tree) {
    for (const auto& h : tree.host().hierarchies) {
      const auto top = world.expected_sandbox_group();
      for (const char* name : {"/vcpu", "/io", "/vmm", "/shim", ""})
        (void)tree.remove({h.name, CgroupPath::parse(top + name).value()});  // ignored: in use
    }
  });
}

/// The helper ends, and its pid goes to a process of somebody else.
void reuse_pid(SandboxWorld& world) {
  if (world.virtiofsd_child == 0) return;
  const Pid pid = world.virtiofsd_child;
  end_helper(world);
  world.proc.start_as(pid, 1, {"stranger", "/bin/stranger", {"stranger"}});
}

/// As above with a thread's number.
void reuse_tid(SandboxWorld& world) {
  const Pid tid = world.vcpus.back();
  end_thread(world);
  world.proc.start_as(tid, 1, {"stranger", "/bin/stranger", {"stranger"}});
}

const Event kEvents[] = {
    {"a_helper_ends", end_helper},
    {"a_vcpu_ends", end_thread},
    {"a_vcpu_is_plugged", [](SandboxWorld& w) { (void)w.plug_vcpu(); }},
    {"a_vcpu_is_plugged_and_has_not_run", [](SandboxWorld& w) { (void)w.plug_vcpu(false); }},
    {"a_child_appears", new_child},
    {"groups_vanish", lose_groups},
    {"kata_takes_back", [](SandboxWorld& w) { w.kata_pulls_back(); }},
    {"a_pid_is_used_again", reuse_pid},
    {"a_tid_is_used_again", reuse_tid},
    {"the_vmm_ends", [](SandboxWorld& w) { w.end_vmm(); }},
    {"all_ends", [](SandboxWorld& w) { w.end_all(); }, true},
};

/// Strangers stay where their parent is; a process of that pid that never was ours has none.
std::string moved_strangers(const SandboxWorld& world, Pid pid) {
  std::string text;
  for (const auto& h : world.tree.host().hierarchies) {
    const auto now = world.tree.group_of(pid, h.name.str());
    if (now != "/") text += fmt::format("{} is in {}:{}\n", pid, h.name.str(), now);
  }
  return text;
}

class Races : public ::testing::TestWithParam<FaultRow> {};

TEST_P(Races, BetweenAnyTwoOperations) {
  for (const auto& event : kEvents) {
    for (std::size_t k = 1;; ++k) {
      SCOPED_TRACE(fmt::format("{} before operation {}", event.name, k));
      SandboxWorld world(GetParam().scenario);
      world.boot();
      const Pid reused_pid = world.virtiofsd_child;
      const Pid reused_tid = world.vcpus.back();
      std::size_t count = 0;
      world.tree.on_operation([&](const FakeWrite&) {
        if (++count == k) event.happens(world);
        return 0;
      });
      (void)judged_pass(world);
      (void)judged_pass(world);
      const bool over = count < k;
      world.tree.on_operation({});
      for (int i = 0; i < 4; ++i) {
        world.clock.advance(std::chrono::seconds(30));
        (void)judged_pass(world);
      }
      world.run_vcpu(0);
      (void)judged_pass(world);
      const std::string_view name = event.name;
      if (!over && name == "a_pid_is_used_again") {
        EXPECT_EQ(moved_strangers(world, reused_pid), "");
      }
      if (!over && name == "a_tid_is_used_again") {
        EXPECT_EQ(moved_strangers(world, reused_tid), "");
      }
      if (event.ends_sandbox && !over) {
        world.kata_cleans_up();
        world.systemd.collect_empty_scopes();
        (void)judged_pass(world);
        world.clock.advance(std::chrono::seconds(5));  // what stands in scopes was systemd's
        (void)judged_pass(world);
        EXPECT_EQ(world.marked_groups(), std::vector<std::string>{});
      } else {
        EXPECT_EQ(world.misplaced(), "");
        EXPECT_EQ(describe(world.look().plan), "");
      }
      if (HasFailure() || over) break;
    }
    if (HasFailure()) break;
  }
}

std::string row_name(const ::testing::TestParamInfo<FaultRow>& row) { return row.param.name; }
INSTANTIATE_TEST_SUITE_P(Rows, Races, ::testing::ValuesIn(fault_rows()), row_name);

}  // namespace
}  // namespace kcg::test
