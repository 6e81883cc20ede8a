// SPDX-License-Identifier: Apache-2.0
#include "timeline.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace kcg::bench {
namespace {

constexpr const char* kTrace =
    R"(# tracer: nop
            shim-10    [001] .....  100.000000: task_newtask: pid=20 comm=shim clone_flags=4100 oom_score_adj=0
            shim-20    [001] .....  100.001000: sched_process_exec: filename=/usr/bin/qemu pid=20 old_pid=20
     kata-cgroupd-5    [000] dN.1.  100.003500: cgroup_attach_task: dst_root=1 dst_id=4301 dst_level=1 dst_path=/p/kata-sandbox-x/vmm pid=20 comm=qemu
     kata-cgroupd-5    [000] dN.1.  100.004000: cgroup_attach_task: dst_root=4 dst_id=4301 dst_level=1 dst_path=/p/kata-sandbox-x pid=20 comm=qemu
            qemu-20    [001] .....  100.010000: task_newtask: pid=21 comm=qemu clone_flags=3d0f00 oom_score_adj=0
     CPU 0/KVM-x-21    [001] .....  100.010400: sys_ioctl(fd: 0x12, cmd: 0xae80, arg: 0)
     CPU 0/KVM-x-21    [001] .....  100.010900: sys_ioctl(fd: 0x12, cmd: 0xae80, arg: 0)
     CPU 0/KVM a-21    [001] .....  100.010500: task_newtask: pid=99 comm=other clone_flags=0 oom_score_adj=0
     kata-cgroupd-5    [000] dN.1.  100.012000: cgroup_attach_task: dst_root=1 dst_id=1 dst_level=1 dst_path=/p/kata-sandbox-x/vcpu pid=21 comm=CPU 0/KVM
     kata-cgroupd-5    [000] dN.1.  100.013000: cgroup_attach_task: dst_root=1 dst_id=1 dst_level=1 dst_path=/p/kata-sandbox-xy/vcpu pid=21 comm=qemu
)";

TEST(BenchTrace, ReadsOurEventsAndSkipsTheRest) {
  const auto events = parse_trace(kTrace);
  ASSERT_EQ(events.size(), 10U);
  EXPECT_EQ(events[1].kind, EventKind::exec);
  EXPECT_EQ(events[1].at, Micros(100'001'000));
  EXPECT_EQ(events[2].path, "/p/kata-sandbox-x/vmm");
  EXPECT_EQ(events[3].hierarchy, 4);
  EXPECT_EQ(events[5].kind, EventKind::kvm_run);
  EXPECT_EQ(events[5].pid, 21);
  EXPECT_TRUE(parse_trace("garbage\n").empty());
}

TEST(BenchTimeline, MeasuresFromExecAndFromTheLastVcpu) {
  const auto start = measure(parse_trace(kTrace), 20, {20, 21}, {21}, "/p/kata-sandbox-x");
  ASSERT_TRUE(start.has_value());
  EXPECT_EQ(start->whole, Micros(3000));
  EXPECT_EQ(start->threads, Micros(2000));
  EXPECT_EQ(start->outside, Micros(1600)) << "from the first run, not from the second";
}

TEST(BenchTimeline, ThreadsBornLaterCountFromTheirOwnStart) {
  auto events = parse_trace(kTrace);
  events.push_back({EventKind::new_task, Micros(200'000'000), 22});
  events.push_back({EventKind::attach, Micros(200'000'700), 22, 1, "/p/kata-sandbox-x/vmm"});
  const auto start = measure(events, 20, {20, 21, 22}, {21}, "/p/kata-sandbox-x");
  ASSERT_TRUE(start.has_value());
  EXPECT_EQ(start->threads, Micros(2000));
}

TEST(BenchTimeline, UnseenStartsAreNone) {
  EXPECT_FALSE(measure({}, 20, {20}, {21}, "/p").has_value());
  EXPECT_FALSE(measure(parse_trace(kTrace), 20, {20}, {22}, "/p").has_value());
}

TEST(BenchTimeline, SummaryKeepsTheWorst) {
  std::vector<Micros> samples;
  for (int i = 100; i > 0; --i) samples.emplace_back(i);
  const auto found = summary(samples);
  EXPECT_EQ(found["p50"], 51);
  EXPECT_EQ(found["p95"], 96);
  EXPECT_EQ(found["max"], 100);
  EXPECT_EQ(summary({})["samples"], 0);
}

}  // namespace
}  // namespace kcg::bench
