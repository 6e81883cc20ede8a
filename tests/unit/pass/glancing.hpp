// SPDX-License-Identifier: Apache-2.0
//
// A sandbox whose threads are glanced at.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>

#include "model/ticks.hpp"
#include "pass/glance.hpp"
#include "support/sandbox_world.hpp"
#include "support/thread_events.hpp"

namespace kcg::test {

/// A sandbox in its place, and what is known of it since.
class Glancing : public testing::Test {
 protected:
  void settle(const Scenario& scenario = {}) {
    world_.emplace(scenario);
    if (young_) world_->proc.set_next_start(ticks_now());
    world_->boot();
    (void)world_->pass();  // ignored: judged by the next one
    const auto pass = world_->pass();
    glance_ = glance_after(pass.result, world_->clock);
    ASSERT_TRUE(glance_);
  }
  [[nodiscard]] Glanced look() { return look(any_of(world_->vmm)); }
  [[nodiscard]] Glanced look(const Stirred& stirred) {
    auto& w = *world_;
    return look_at_threads({w.tree, w.proc, w.clock, w.manager, w.notes}, w.scenario.config,
                           *glance_, stirred, told_, w.record);
  }

  [[nodiscard]] std::uint64_t ticks_now() const {
    return static_cast<std::uint64_t>(world_->clock.now().count()) / kUsecPerTick;
  }

  std::optional<SandboxWorld> world_;
  std::optional<Glance> glance_;
  Told told_;
  bool young_ = false;  ///< it starts now
};

}  // namespace kcg::test
