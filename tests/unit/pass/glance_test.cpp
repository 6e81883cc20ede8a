// SPDX-License-Identifier: Apache-2.0
#include "pass/glance.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <functional>

#include "support/sandbox_world.hpp"

namespace kcg::test {
namespace {

using std::chrono::milliseconds;

/// A sandbox in its place, and what is known of it since.
class Glancing : public testing::Test {
 protected:
  void settle(const Scenario& scenario = {}) {
    world_.emplace(scenario);
    world_->boot();
    (void)world_->pass();  // ignored: judged by the next one
    const auto pass = world_->pass();
    glance_ = glance_after(pass.result, world_->clock);
    ASSERT_TRUE(glance_);
  }
  [[nodiscard]] Glanced look() {
    auto& w = *world_;
    return look_at_threads({w.tree, w.proc, w.clock, w.manager, w.notes}, w.scenario.config,
                           *glance_, {w.vmm}, w.record);
  }

  std::optional<SandboxWorld> world_;
  std::optional<Glance> glance_;
};

TEST_F(Glancing, WhatIsInItsPlaceIsAsSeen) {
  settle();
  EXPECT_TRUE(look().as_seen);
  EXPECT_TRUE(look().as_seen);
}

struct Case {
  const char* name;
  std::function<void(SandboxWorld&)> happens;
  bool as_seen;
};

TEST_F(Glancing, NoticesWhatALookWouldFind) {
  const Case cases[] = {
      {"a worker", [](auto& w) { w.proc.add_thread(w.vmm, "worker"); }, true},
      {"a worker that ended", [](auto& w) { w.proc.exit_thread(w.proc.add_thread(w.vmm)); }, true},
      {"a name that means nothing",
       [](auto& w) { w.proc.rename(w.proc.add_thread(w.vmm), "worker"); }, true},
      {"a worker born among the vCPUs",
       [](auto& w) { w.proc.add_thread(w.vmm, "worker", w.vcpus.front()); }, false},
      {"a vCPU more", [](auto& w) { (void)w.plug_vcpu(); }, false},
      {"a vCPU more that has not run", [](auto& w) { (void)w.plug_vcpu(false); }, false},
      {"an I/O thread more", [](auto& w) { w.proc.add_thread(w.vmm, "IO more"); }, false},
      {"a vCPU's end", [](auto& w) { w.proc.exit_thread(w.vcpus.front()); }, false},
      {"the VMM's end", [](auto& w) { w.end_vmm(); }, false},
      {"what cannot be read", [](auto& w) { w.proc.on_read([] { return EACCES; }); }, false},
  };
  for (const auto& one : cases) {
    settle();
    one.happens(*world_);
    EXPECT_EQ(look().as_seen, one.as_seen) << one.name;
  }
}

/// Of so many a look is taken in parts, which a glance is not.
TEST_F(Glancing, ManyThreadsAreNotGlancedAt) {
  settle();
  while (world_->proc.tids(world_->vmm)->size() < kMostGlanced)
    world_->proc.add_thread(world_->vmm, "worker");
  EXPECT_TRUE(look().as_seen);
  world_->proc.add_thread(world_->vmm, "worker");
  EXPECT_FALSE(look().as_seen);
}

TEST_F(Glancing, WatchesANewThreadForAWhile) {
  settle();
  glance_->look_at.reset();
  world_->clock.advance(std::chrono::seconds(10));
  EXPECT_FALSE(look().again);
  world_->proc.add_thread(world_->vmm, "worker");
  const auto first = look();
  ASSERT_TRUE(first.as_seen && first.again);
  EXPECT_LE(*first.again, world_->clock.now() + milliseconds(1));
  unsigned looks = 0;
  for (auto again = first.again; again; ++looks) {
    world_->clock.advance(*again - world_->clock.now());
    const auto next = look();
    ASSERT_TRUE(next.as_seen);
    again = next.again;
  }
  EXPECT_LT(looks, 30U);
}

TEST_F(Glancing, NothingIsKnownOfWhatIsNotInItsPlace) {
  SandboxWorld world{Scenario{}};
  world.boot();
  world.tree.on_operation([](const FakeWrite&) { return EACCES; });
  EXPECT_FALSE(glance_after(world.pass().result, world.clock));
}

}  // namespace
}  // namespace kcg::test
