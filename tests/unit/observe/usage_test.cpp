// SPDX-License-Identifier: Apache-2.0
//
// Measuring, step by step, on a node in memory.
#include "observe/usage.hpp"

#include <gtest/gtest.h>

#include "base/units.hpp"
#include "show/view.hpp"
#include "support/sandbox_world.hpp"

namespace kcg::test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::uint64_t kRam = 256 * kMib;

Mapping ram(bool shared, std::uint64_t resident = 0) {
  return {kRam, true, shared, shared, !shared, resident};
}

/// A sandbox that was placed, in a group whose counters the test writes.
struct Measured {
  explicit Measured(HierarchyMode mode = HierarchyMode::v2) : world(scenario(mode)) {
    world.boot();
    const auto pass = world.pass();
    const auto& last = pass.last();
    view = make_view(last.observed, last.want, last.plan, standing_of(world.record));
    target = measure_target(view, world.record.trusted).value();
    target.ram = [] { return kRam; };
  }
  static Scenario scenario(HierarchyMode mode) {
    Scenario s;
    s.mode = mode;
    return s;
  }
  void charge(std::uint64_t used, std::uint64_t anonymous, std::uint64_t shared) {
    const bool v2 = world.scenario.mode == HierarchyMode::v2;
    const GroupRef group{v2 ? "v2" : "memory", target.group};
    const auto* prefix = v2 ? "" : "total_";
    world.tree.set_file(group, v2 ? "memory.current" : "memory.usage_in_bytes",
                        std::to_string(used));
    world.tree.set_file(
        group, "memory.stat",
        fmt::format("{4} {0}\n{3}shmem {1}\n{3}inactive_file {2}\n{3}active_file {2}", anonymous,
                    shared, kMib, prefix, v2 ? "anon" : "total_rss"));
  }
  const MemoryUse& use(Instant later = seconds(10)) {
    world.clock.advance(later);
    measure(world.tree, world.proc, world.clock, target, measuring);
    return measuring.use;
  }
  void map(std::vector<Mapping> mappings) { world.proc.set_mappings(world.vmm, mappings); }

  SandboxWorld world;
  SandboxView view;
  MeasureTarget target;
  Measuring measuring;
};

TEST(MeasuredUsage, SharedRamIsReadOffTheCounters) {
  for (const auto mode : {HierarchyMode::v2, HierarchyMode::v1}) {
    SCOPED_TRACE(name(mode));
    Measured one(mode);
    one.map({ram(true)});
    one.charge(200 * kMib, 30 * kMib, 150 * kMib);
    EXPECT_EQ(one.use().overhead, 48 * kMib) << one.use().unknown;
    EXPECT_EQ(one.use().guest_memory, GuestMemory::shared);
    one.charge(240 * kMib, 40 * kMib, 180 * kMib);
    EXPECT_EQ(one.use().overhead, 58 * kMib);
    EXPECT_EQ(one.measuring.use.at, one.world.clock.wall_seconds());
    EXPECT_EQ(one.world.proc.mappings_read(false), 1U) << "the kind of RAM stays as it is";
    EXPECT_EQ(one.world.proc.mappings_read(true), 0U);
  }
}

TEST(MeasuredUsage, WhatStandsStillCostsOneFile) {
  Measured one;
  one.map({ram(true)});
  one.charge(200 * kMib, 30 * kMib, 150 * kMib);
  EXPECT_EQ(one.use().overhead, 48 * kMib);
  unsigned reads = 0;
  one.world.tree.on_read([&] {
    ++reads;
    return 0;
  });
  one.charge(200 * kMib + Measuring::kSame - 1, 30 * kMib, 120 * kMib);
  EXPECT_EQ(one.use().overhead, 48 * kMib);
  EXPECT_EQ(reads, 1U);
  EXPECT_EQ(one.use(minutes(1)).overhead, 78 * kMib + Measuring::kSame - 1)
      << "what it consists of may have changed";
  one.charge(200 * kMib + 2 * Measuring::kSame, 30 * kMib, 150 * kMib);
  EXPECT_EQ(one.use().overhead, 48 * kMib + 2 * Measuring::kSame) << "the sum has moved";
}

/// Private RAM, whose parts are looked at rarely, is the case in which it must not wait for them.
TEST(MeasuredUsage, WhatComesNearItsLimitIsSeenAtOnce) {
  for (const auto mode : {HierarchyMode::v2, HierarchyMode::v1}) {
    SCOPED_TRACE(name(mode));
    Measured one(mode);
    one.target.ceiling = MemoryCeiling{200 * kMib, "/kubepods/pod1"};
    one.map({ram(false, 100 * kMib)});
    const auto near = [&one](std::uint64_t used) {
      one.charge(used, used - 2 * kMib, 0);  // and 2 MiB of files
      (void)one.use();
      return one.measuring.near_limit.now();
    };
    EXPECT_FALSE(near(193 * kMib));
    EXPECT_FALSE(near(191 * kMib)) << "without its files it is below 95 %";
    EXPECT_FALSE(near(193 * kMib));
    const NearLimit wanted{191 * kMib, *one.target.ceiling};
    EXPECT_EQ(near(193 * kMib), wanted);
    EXPECT_TRUE(near(183 * kMib)) << "it is told until it is below 90 %";
    EXPECT_FALSE(near(181 * kMib));
  }
}

TEST(MeasuredUsage, FarFromItsLimitNothingMoreIsRead) {
  Measured one;
  one.target.ceiling = MemoryCeiling{1000 * kMib, "/kubepods/pod1"};
  one.map({ram(true)});
  one.charge(200 * kMib, 30 * kMib, 150 * kMib);
  (void)one.use();
  unsigned reads = 0;
  one.world.tree.on_read([&] {
    ++reads;
    return 0;
  });
  (void)one.use();
  EXPECT_EQ(reads, 1U);
}

TEST(MeasuredUsage, PrivateRamIsLookedAtRarely) {
  Measured one;
  one.map({ram(false, 100 * kMib)});
  one.charge(150 * kMib, 130 * kMib, 0);
  EXPECT_EQ(one.use().overhead, 48 * kMib) << one.use().unknown;
  one.map({ram(false, 200 * kMib)});
  one.charge(270 * kMib, 250 * kMib, 0);
  const auto measured_at = one.use().at;
  EXPECT_EQ(one.use().overhead, 48 * kMib) << "not of two moments";
  EXPECT_EQ(one.use().at, measured_at);
  EXPECT_EQ(one.world.proc.mappings_read(true), 1U);
  EXPECT_EQ(one.use(minutes(10)).overhead, 68 * kMib);
  EXPECT_EQ(one.world.proc.mappings_read(true), 2U);
}

TEST(MeasuredUsage, AnAnswerThatCameLaterGoesWithTheCountersOfItsQuestion) {
  Measured one;
  one.map({ram(false)});
  one.charge(150 * kMib, 130 * kMib, 0);
  one.measuring.vmm = one.target.vmm;
  one.measuring.guest.memory = GuestMemory::private_memory;
  one.world.proc.set_mappings(one.world.vmm, std::nullopt);
  EXPECT_EQ(one.use().overhead, std::nullopt);
  one.charge(250 * kMib, 230 * kMib, 0);
  EXPECT_EQ(one.use().overhead, std::nullopt) << "still being read";
  one.map({ram(false, 100 * kMib)});
  EXPECT_EQ(one.use().overhead, 48 * kMib);
}

TEST(MeasuredUsage, ALargeVmIsNotHeldUp) {
  Measured one;
  one.map({ram(false, kMib)});
  one.charge(150 * kMib, 130 * kMib, 0);
  one.world.proc.set_charged_memory(one.world.vmm, Measuring::kMostTouched);
  EXPECT_EQ(one.use().overhead, std::nullopt);
  EXPECT_NE(one.use().unknown.find("hold it up"), std::string::npos) << one.use().unknown;
  EXPECT_EQ(one.world.proc.mappings_read(true), 0U);
  one.world.proc.set_charged_memory(one.world.vmm, Measuring::kMostTouched - 1);
  EXPECT_EQ(one.use(minutes(10)).overhead, 147 * kMib);
}

TEST(MeasuredUsage, WhatTellsNothingIsAskedLessAndLess) {
  Measured one;
  one.charge(150 * kMib, 130 * kMib, 0);
  one.map({});
  for (int i = 0; i < 60; ++i) EXPECT_EQ(one.use().overhead, std::nullopt);
  EXPECT_NE(one.use().unknown.find("no RAM yet"), std::string::npos) << one.use().unknown;
  EXPECT_LT(one.world.proc.mappings_read(false), 12U);
  one.map({ram(true)});
  EXPECT_TRUE(one.use(minutes(10)).overhead);
}

TEST(MeasuredUsage, AnotherVmmIsMeasuredAnew) {
  Measured one;
  one.map({ram(true)});
  one.charge(200 * kMib, 30 * kMib, 150 * kMib);
  EXPECT_TRUE(one.use().overhead);
  ++one.target.vmm.start;
  EXPECT_EQ(one.use().guest_memory, GuestMemory::unknown);
  EXPECT_EQ(one.use().overhead, std::nullopt);
}

TEST(MeasuredUsage, OnlyWhatHasAVmAndAGroupIsATarget) {
  Measured one;
  EXPECT_EQ(one.target.group.str(), one.world.expected_sandbox_group());
  EXPECT_EQ(one.target.vmm, one.world.proc.key(one.world.vmm));
  EXPECT_FALSE(measure_target(one.view, {}));
  EXPECT_FALSE(measure_target(SandboxView{}, one.world.record.trusted));
  auto nowhere = one.view;
  for (auto& group : nowhere.groups) group.exists = false;
  EXPECT_FALSE(measure_target(nowhere, one.world.record.trusted));
  const FlatSet<Trusted> inside = {{{7, 8}, ProcessRole::shim, Hypervisor::dragonball}};
  EXPECT_EQ(measure_target(one.view, inside)->vmm, (TaskKey{7, 8}));
}

}  // namespace
}  // namespace kcg::test
