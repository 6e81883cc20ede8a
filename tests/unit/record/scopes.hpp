// SPDX-License-Identifier: Apache-2.0
//
// A sandbox whose groups systemd makes.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "support/sandbox_world.hpp"

namespace kcg::test {

class Scopes : public testing::Test {
 protected:
  Scopes() {
    Scenario s;
    s.systemd = true;
    s.kata_only = false;
    s.strangers = 0;
    s.config.layout.sandbox_cgroup_only = true;
    world_.emplace(s);
    world_->boot();
  }
  [[nodiscard]] bool said(ConditionName name) const {
    return std::any_of(world_->record.conditions.begin(), world_->record.conditions.end(),
                       [&](const auto& c) { return c.condition.condition == name; });
  }
  [[nodiscard]] std::string unit() const {
    return "kata-sandbox-" + world_->scenario.id + ".scope";
  }
  [[nodiscard]] std::string slice() const {
    return world_->pod_group.substr(world_->pod_group.rfind('/') + 1);
  }
  [[nodiscard]] std::string memory_max() const {
    const auto path = CgroupPath::parse(world_->expected_sandbox_group()).value();
    return world_->tree.read({"v2", path}, "memory.max").value();
  }
  void place() {
    (void)world_->pass();
    world_->end_jobs();
    (void)world_->pass();
    ASSERT_EQ(world_->misplaced(), "");
  }
  const std::string kLimit = std::to_string((256ULL + 512 + 350) << 20);
  std::optional<SandboxWorld> world_;
};

}  // namespace kcg::test
