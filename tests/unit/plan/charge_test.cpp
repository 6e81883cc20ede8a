// SPDX-License-Identifier: Apache-2.0
//
// ChargedElsewhere: looked at once, 5 s after placement.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "support/sandbox_world.hpp"

namespace kcg::test {
namespace {

using std::chrono::seconds;
constexpr std::uint64_t kMib = 1024 * 1024;

/// A sandbox that was just placed.
struct Placed {
  explicit Placed(HierarchyMode mode = HierarchyMode::v2) : world(scenario(mode)) {
    world.boot();
    last = world.pass();
  }
  static Scenario scenario(HierarchyMode mode) {
    Scenario s;
    s.mode = mode;
    s.containers = 0;
    return s;
  }
  void charge(std::uint64_t touched_mib, std::uint64_t charged_mib) {
    world.proc.set_charged_memory(world.vmm, touched_mib * kMib);
    world.tree.set_file({"v2", CgroupPath::parse(world.expected_sandbox_group()).value()},
                        "memory.stat",
                        fmt::format("anon {}\nfile 7\nshmem {}", charged_mib * kMib - kMib, kMib));
  }
  void after(Instant time) {
    world.clock.advance(time);
    last = world.pass();
  }
  [[nodiscard]] std::string text() const {
    for (const auto& active : world.record.conditions)
      if (active.condition.condition == ConditionName::charged_elsewhere)
        return active.condition.text;
    return "";
  }

  SandboxWorld world;
  Pass last;
};

TEST(ChargedElsewhere, IsLookedAtFiveSecondsAfterPlacement) {
  Placed one;
  one.charge(300, 10);
  ASSERT_TRUE(one.last.follow_up.retry_at);
  one.after(seconds(4));
  EXPECT_EQ(one.text(), "");
  one.after(seconds(1));
  EXPECT_EQ(one.text(),
            "estimated: 290 MiB of 300 MiB that its processes have touched are not "
            "charged to the sandbox's group (10 MiB), but to where they were before; it was "
            "placed late");
  EXPECT_EQ(one.world.record.state, SandboxState::degraded);
}

TEST(ChargedElsewhere, OnceAndUntilTheVmEnds) {
  Placed one;
  one.charge(300, 10);
  one.after(seconds(5));
  one.charge(300, 300);
  one.after(seconds(60));
  EXPECT_NE(one.text(), "");
  EXPECT_EQ(one.last.follow_up.retry_at, std::nullopt) << "no polling";
  one.world.end_vmm();
  one.after(seconds(1));
  EXPECT_EQ(one.text(), "");
}

TEST(ChargedElsewhere, ALittleIsNotWorthAWord) {
  struct Row {
    const char* name;
    std::uint64_t vm_mib, touched, charged;
    bool raised;
  };
  for (const auto& row :
       {Row{"all is here", 128, 100, 100, false},
        Row{"more is charged than touched", 128, 10, 300, false}, Row{"16 MiB", 128, 36, 20, false},
        Row{"17 MiB", 128, 37, 20, true}, Row{"2 % of 4 GiB", 4096, 101, 20, false},
        Row{"more than 2 % of 4 GiB", 4096, 102, 20, true}}) {
    Placed one;
    one.world.assembled.inputs.kata->boot_memory_mib = row.vm_mib;
    one.charge(row.touched, row.charged);
    one.after(seconds(5));
    EXPECT_EQ(!one.text().empty(), row.raised) << row.name;
  }
}

TEST(ChargedElsewhere, NotOnV1) {
  Placed one(HierarchyMode::v1);
  one.charge(300, 10);
  one.after(seconds(5));
  EXPECT_EQ(one.text(), "");
}

}  // namespace
}  // namespace kcg::test
