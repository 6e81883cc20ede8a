// SPDX-License-Identifier: Apache-2.0
//
// Every condition is raised by what it is about, and cleared by its end: one row each, over the
// daemon's whole line.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <limits>
#include <stdexcept>

#include "base/text.hpp"
#include "base/units.hpp"
#include "identify/recognise.hpp"
#include "support/sandbox_world.hpp"

namespace kcg::test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using enum ConditionName;
using Act = void (*)(SandboxWorld&);

/// Value: one condition. `early`: it is raised before the sandbox is placed.
struct ConditionRow {
  ConditionName condition;
  Scenario (*scenario)();
  Act raise;
  Act clear;
  bool early = false;
};

Scenario v2() {
  Scenario s;
  s.strangers = 0;
  return s;
}
Scenario v1() {
  auto s = v2();
  s.mode = HierarchyMode::v1;
  return s;
}
Scenario nameless() {
  auto s = v2();
  s.kvm_entries = s.thread_names = false;
  return s;
}
Scenario sized() {
  auto s = v2();
  s.config.sizing.memory = MemorySizing::always;
  return s;
}
Scenario own_scope() {
  auto s = v2();
  s.systemd = true;
  s.kata_only = false;
  s.config.layout.sandbox_cgroup_only = true;
  return s;
}
Scenario with_program() {
  auto s = v2();
  s.device_programs = 1;
  return s;
}
Scenario not_only() {
  auto s = v2();
  s.kata_only = false;
  return s;
}
Scenario legacy() {
  auto s = v2();
  s.config.layout.sandbox_cgroup_only = false;
  return s;
}

CgroupPath path(const std::string& text) { return CgroupPath::parse(text).value(); }
GroupRef ours(const SandboxWorld& w) { return {"v2", path(w.expected_sandbox_group())}; }
Resources& container(SandboxWorld& w) { return w.assembled.inputs.containers.at(0).resources; }
void annotate(SandboxWorld& w, const char* text) {
  w.assembled.inputs.bundle->overhead_annotation = text;
}
void pod_file(SandboxWorld& w, const char* hierarchy, const char* file, const char* text) {
  w.tree.set_file({hierarchy, path(w.pod_group)}, file, text);
}
void put(SandboxWorld& w, Pid task, const std::string& group, const char* file) {
  w.tree.outside([&](CgroupTree& tree) {  // ignored: who is not there cannot be moved
    (void)tree.write({"v2", path(group)}, file, std::to_string(task));
  });
}
void fail_all(SandboxWorld& w, FakeWrite::Kind kind, const char* text, int code) {
  w.tree.on_operation(
      [=](const FakeWrite& write) { return write.kind == kind && write.text == text ? code : 0; });
}
void work(SandboxWorld& w) { w.tree.on_operation({}); }
void end(SandboxWorld& w) {
  w.end_all();
  w.kata_cleans_up();
}

/// Only what the next look finds again is told.
void pass_a_while(SandboxWorld& w, Instant time) {
  (void)w.pass();
  w.clock.advance(time);
}

/// Somebody moves a thread of ours whenever we move one.
void unsettle(SandboxWorld& w) {
  const auto group = w.expected_sandbox_group();
  w.tree.on_operation([&w, group, turn = 0](const FakeWrite&) mutable {
    const auto& threads = turn++ % 2 == 0 ? w.io_threads : w.vcpus;
    put(w, threads.front(), group + "/shim", "cgroup.threads");
    return 0;
  });
  put(w, w.vcpus.front(), group + "/shim", "cgroup.threads");
}

void contest(SandboxWorld& w) {
  for (int i = 0; i < 8; ++i) {
    put(w, w.vcpus.front(), w.expected_sandbox_group() + "/vmm", "cgroup.threads");
    (void)w.pass();
  }
}

/// The pid of a helper goes to a stranger just when it is moved.
void reuse_pid(SandboxWorld& w) {
  w.tree.on_operation([&w](const FakeWrite& write) {
    if (write.text != std::to_string(w.virtiofsd_child)) return 0;
    const Pid pid = std::exchange(w.virtiofsd_child, 0);
    w.proc.exit_process(pid);
    w.proc.start_as(pid, 1, {"stranger", "/bin/stranger", {"stranger"}});
    return 0;
  });
}

void claim_falsely(SandboxWorld& w) {
  auto claims = w.assembled.inputs.containers;
  claims.push_back(*w.assembled.inputs.bundle);
  auto stranger = claims.front();
  stranger.id = "elsewhere";
  stranger.cgroups_path = "/kubepods/burstable/pod2/elsewhere";
  claims.push_back(stranger);
  w.assembled.conditions = assemble(w.assembled.inputs.id, claims).conditions;
}

void block_removal(SandboxWorld& w) {
  w.end_all();
  fail_all(w, FakeWrite::Kind::remove, "", EBUSY);
  for (int i = 0; i < 12; ++i) {
    (void)w.pass();
    w.clock.advance(seconds(1));
  }
}

const ConditionRow kRows[] = {
    {invalid_annotation, v2, [](auto& w) { annotate(w, "350Mi"); },
     [](auto& w) { annotate(w, "350"); }},
    {overhead_implausible, v2, [](auto& w) { annotate(w, "10"); },
     [](auto& w) { annotate(w, "64"); }},
    {parent_undersized, v2,
     [](auto& w) {
       annotate(w, "350");
       pod_file(w, "v2", "memory.max", "1048576");
     },
     [](auto& w) { pod_file(w, "v2", "memory.max", "max"); }},
    {vm_larger_than_limit, v2,
     [](auto& w) {
       pod_file(w, "v2", "memory.max", "1073741824");
       w.assembled.inputs.kata->boot_memory_mib = 4096;
     },
     [](auto& w) { w.assembled.inputs.kata->boot_memory_mib = 256; }},
    {limit_below_usage, sized,
     [](auto& w) {
       container(w).memory_limit.reset();
       (void)w.pass();
       container(w).memory_limit = 4096;
       w.tree.set_file(ours(w), "memory.max", "max");
       w.tree.set_file(ours(w), "memory.current", "4294967296");
     },
     [](auto& w) { w.tree.set_file(ours(w), "memory.current", "4096"); }},
    {arithmetic_overflow, v2,
     [](auto& w) {
       container(w).cpu_quota = std::numeric_limits<std::int64_t>::max();
       container(w).cpu_period = 1;
     },
     [](auto& w) { container(w).cpu_period = 100'000; }},
    {quota_clamped, v1, [](auto& w) { pod_file(w, "cpu", "cpu.cfs_quota_us", "10000"); },
     [](auto& w) { pod_file(w, "cpu", "cpu.cfs_quota_us", "-1"); }},
    {controller_missing, v2,
     [](auto& w) {
       fail_all(w, FakeWrite::Kind::write, "+memory", EBUSY);
       pass_a_while(w, seconds(1));
     },
     work, true},
    {overhead_exceeded, v2,
     [](auto& w) {
       annotate(w, "350");
       w.context.measured = {400 * kMib, 400 * kMib, 400 * kMib};
     },
     [](auto& w) { w.context.measured = {350 * kMib, 350 * kMib, 400 * kMib}; }},
    {memory_near_limit, v2,
     [](auto& w) { w.context.near_limit = {980 * kMib, {1024 * kMib, w.pod_group}}; },
     [](auto& w) { w.context.near_limit.reset(); }},
    {charged_elsewhere, v2,
     [](auto& w) {
       w.proc.set_charged_memory(w.vmm, std::uint64_t{1} << 30);
       w.clock.advance(seconds(5));
     },
     [](auto& w) { w.end_vmm(); }},
    {threads_unclassified, nameless, [](auto& w) { pass_a_while(w, minutes(1)); },
     [](auto& w) {
       w.proc.set_debugfs(true);
       w.run_vcpu(0);
     },
     true},
    {threads_unsettled, v2,
     [](auto& w) {
       unsettle(w);
       pass_a_while(w, seconds(1));
     },
     work},
    {contested, v2, contest,
     [](auto& w) {
       for (int i = 0; i < 2; ++i) {
         w.clock.advance(minutes(30));
         (void)w.pass();
       }
     }},
    {stranger_moved, v2, reuse_pid,
     [](auto& w) {  // as Reconcile does
       work(w);
       std::erase_if(w.record.conditions, [](const auto& active) {
         return active.condition.condition == stranger_moved;
       });
     },
     true},
    {foreign_process, v2,
     [](auto& w) {
       w.strangers = {w.proc.start(1, {"stranger", "/bin/stranger", {"stranger"}})};
       put(w, w.strangers.front(), w.expected_sandbox_group() + "/vmm", "cgroup.procs");
     },
     [](auto& w) { w.proc.exit_process(w.strangers.front()); }},
    {foreign_container, v2, claim_falsely, [](auto& w) { w.assembled.conditions.clear(); }},
    {device_policy_not_carried, with_program, [](auto& w) { w.tree.hide_devices(EPERM); },
     [](auto& w) { w.tree.hide_devices(0); }, true},
    {legacy_not_on_v2, not_only, [](auto&) {},
     [](auto& w) { w.assembled.inputs.kata->sandbox_cgroup_only = true; }, true},
    {legacy_emulated_on_v2, legacy, [](auto&) {}, end, true},
    {layout_changed, v1, [](auto& w) { w.scenario.config.layout.sandbox_cgroup_only = false; },
     [](auto& w) { w.scenario.config.layout.sandbox_cgroup_only.reset(); }},
    {bundle_unreadable, v2,
     [](auto& w) { w.assembled.inputs.bundle->cgroups_path = "a--b.slice:x:y"; },
     [](auto& w) { w.assembled.inputs.bundle->cgroups_path = w.pod_group + "/" + w.scenario.id; }},
    {pass_failed, v2,
     [](auto& w) {
       w.tree.on_operation([](const FakeWrite&) -> int { throw std::runtime_error("unheard of"); });
     },
     work, true},
    {input_unreadable, v2, [](auto& w) { w.scenario.config.limits.max_threads_per_sandbox = 4; },
     [](auto& w) { w.scenario.config.limits.max_threads_per_sandbox = 4096; }},
    {node_data_disagrees, v2,
     [](auto& w) {
       w.assembled.inputs.bundle->pod.name = "web";
       w.assembled.inputs.node.emplace().pod.name = "another";
     },
     [](auto& w) { w.assembled.inputs.node.reset(); }},
    {write_failed, v2, [](auto& w) { fail_all(w, FakeWrite::Kind::make, "", EACCES); }, work, true},
    {scope_failed, own_scope,
     [](auto& w) {
       w.manager = nullptr;
       pass_a_while(w, seconds(15));
     },
     [](auto& w) { w.manager = &w.systemd; }, true},
    {removal_blocked, v2, block_removal, work},
    {oom_killed, v2,
     [](auto& w) { w.tree.set_file(ours(w), "memory.events", "oom 1\noom_kill 1"); }, end},
    {vmm_ended, v2,
     [](auto& w) {
       w.assembled.inputs.kata->state = "running";
       w.end_vmm();
       pass_a_while(w, seconds(15));
     },
     [](auto& w) { w.assembled.inputs.kata->state = "stopped"; }},
};

bool raised(const SandboxWorld& world, ConditionName condition) {
  return std::any_of(world.record.conditions.begin(), world.record.conditions.end(),
                     [&](const auto& active) { return active.condition.condition == condition; });
}

/// Passes as events, timers and the resync make them.
Pass settle(SandboxWorld& world) {
  auto last = world.pass();
  for (int i = 0; i < 4; ++i) {
    world.end_jobs();
    world.clock.advance(seconds(31));
    last = world.pass();
  }
  return last;
}

class Conditions : public ::testing::TestWithParam<ConditionRow> {};

TEST_P(Conditions, AreRaisedAndClearedByThemselves) {
  const auto& row = GetParam();
  SandboxWorld world(row.scenario());
  world.boot();
  if (!row.early) {
    (void)world.pass();
    EXPECT_FALSE(raised(world, row.condition)) << "nothing has happened yet";
  }
  row.raise(world);
  (void)world.pass();
  ASSERT_TRUE(raised(world, row.condition));
  for (const auto& active : world.record.conditions) EXPECT_GT(active.condition.text.size(), 20U);
  const bool severe = info(row.condition).severity != Severity::info;
  const bool over = world.record.state == SandboxState::removing;
  EXPECT_TRUE(!severe || over || world.record.state == SandboxState::degraded);
  row.clear(world);
  const auto last = settle(world);
  EXPECT_TRUE(!raised(world, row.condition) || last.follow_up.forget);
}

std::string row_name(const ::testing::TestParamInfo<ConditionRow>& row) {
  return std::string(info(row.param.condition).name);
}
INSTANTIATE_TEST_SUITE_P(Rows, Conditions, ::testing::ValuesIn(kRows), row_name);

TEST(ConditionRows, NoneIsMissing) {
  for (const auto& one : all_conditions())
    EXPECT_EQ(
        std::count_if(std::begin(kRows), std::end(kRows),
                      [&](const ConditionRow& row) { return row.condition == one.condition; }),
        1)
        << one.name;
}

}  // namespace
}  // namespace kcg::test
